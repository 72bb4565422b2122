import { join } from 'node:path';
import type { FinishedStatus, RunStatus } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { durationOf } from '#core/summary/summarize.ts';
import { hasTag } from '#core/tags.ts';
import type { RunArchive, RunLabel, RunStatuses } from '#store/store.ts';
import { createSlices } from '#system/turns.ts';
import { mayBeActive } from './may-be-active.ts';
import type { PastRun } from './past-run.ts';
import { readFinished } from './read-finished.ts';
import { liesBelow, namesWorkflow, type Reach } from './run-reference.ts';

/** Selects past runs; a null field does not limit. Times are milliseconds since 1970-01-01 UTC. */
export type RunFilter = {
  /** A workflow, by its name or file. */
  readonly workflow: string | null;
  readonly statuses: readonly RunStatus[] | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly limit: number;
  /** Only runs in which a step waits for approval. */
  readonly waiting?: boolean;
  /** Only runs that have not finished. */
  readonly active?: boolean;
  /** Only runs that no step of another run started. */
  readonly topLevel?: boolean;
  /** Only runs of this queue. */
  readonly queue?: string | null;
  /** Only runs of workflows with this tag, ignoring case. */
  readonly tag?: string | null;
  /** Only runs of files below this directory, and those without a file that were started there. */
  readonly below?: string | null;
  /** Only runs after this position in the list. */
  readonly behind?: RunPlace | null;
  /** Runs whose status is not remembered are selected whatever it is, so that the caller can limit how many are read. */
  readonly unknownToo?: boolean;
};

/** The position of a run in the list of all runs, newest first; the run may have been removed. */
export type RunPlace = { readonly at: number; readonly runId: string };

export type SelectTools = {
  readonly archive: RunArchive;
  readonly reach: Reach;
  readonly read: (runId: string) => Promise<PastRun | null>;
};

/** The number of newest runs without a file that are read to learn their directory. */
const mostWithoutFile = 50;

/** The maximum time of reading runs per turn of the event loop. */
const sliceMs = 10;

/** Yields the selected runs, newest first. Reads only as many as needed. */
export async function* selectRuns(filter: RunFilter, { archive, reach, read }: SelectTools): AsyncIterable<PastRun> {
  const { statuses, limit, waiting = false, active = false } = filter;
  const ids = archive.list();
  const known = statuses === null ? null : archive.statuses(ids);
  const pause = createSlices(sliceMs);
  let left = limit;
  try {
    for (const runId of placedRuns(ids, filter, { archive, reach })) {
      if (left <= 0) return;
      const turn = pause();
      if (turn !== null) await turn;
      if ((waiting || active) && !mayBeActive(runId, archive)) continue;
      if (!hasBegunSo(archive, runId, filter)) continue;
      const isOther = statuses !== null && known !== null && hasOther({ runId, statuses, known, archive, filter });
      const run = isOther ? null : await read(runId);
      if (run === null) continue;
      remember(run, known);
      if (statuses !== null && !filter.unknownToo && !statuses.includes(run.state.status)) continue;
      if ((waiting && run.state.held === 0) || (active && isFinished(run.state))) continue;
      left -= 1;
      yield run;
    }
  } finally {
    known?.save();
  }
}

/** Yields the time and the status of runs, newest first. Reads only runs whose status is not remembered. */
export async function* statusesSince(
  from: number,
  { archive, reach, read }: SelectTools,
): AsyncIterable<{ readonly at: number; readonly status: RunStatus }> {
  const ids = archive.list();
  const known = archive.statuses(ids);
  const pause = createSlices(sliceMs);
  try {
    for (const runId of placedRuns(ids, { workflow: null, from, to: null }, { archive, reach })) {
      const turn = pause();
      if (turn !== null) await turn;
      const remembered = known.of(runId);
      const run = remembered === null ? await read(runId) : null;
      if (run !== null) remember(run, known);
      const status = remembered ?? run?.state.status;
      if (status !== undefined) yield { at: archive.timeOf(runId), status };
    }
  } finally {
    known.save();
  }
}

/** Whether the first event of a run fits the filter. */
function hasBegunSo(archive: RunArchive, runId: string, filter: RunFilter): boolean {
  const { topLevel = false, queue = null, tag = null } = filter;
  if (!topLevel && queue === null && tag === null) return true;
  const created = archive.readCreated(runId);
  if (topLevel && created?.trigger === 'workflow') return false;
  return (queue === null || created?.queue === queue) && (tag === null || hasTag(created?.tags ?? [], tag));
}

/** The runs of the workflow in the time, as far as that is known without reading them. */
function* placedRuns(
  ids: readonly string[],
  { workflow, from, to, behind = null, below = null }: Pick<RunFilter, 'workflow' | 'from' | 'to' | 'behind' | 'below'>,
  { archive, reach }: Pick<SelectTools, 'archive' | 'reach'>,
): Iterable<string> {
  const isMeant = workflow === null ? () => true : namesWorkflow(workflow, reach);
  const labelOf = workflow === null && below === null ? () => null : archive.labels(ids);
  const isBelow = below === null ? () => true : startedBelow(below, archive);
  for (const runId of ids) {
    if (!isMeant(labelOf(runId))) continue;
    if (!isBelow(runId, labelOf(runId))) continue;
    const time = from === null && to === null && behind === null ? 0 : archive.timeOf(runId);
    if (from !== null && time < from) return;
    if (to !== null && time > to) continue;
    if (behind !== null && (time > behind.at || (time === behind.at && runId >= behind.runId))) continue;
    yield runId;
  }
}

/** Returns a test whether a run is of a file below the directory, or without a file and started there. */
function startedBelow(directory: string, archive: RunArchive): (runId: string, label: RunLabel | null) => boolean {
  const isBelow = liesBelow(directory);
  let unread = mostWithoutFile;
  return (runId, label) => {
    if (label === null || label.file !== null) return isBelow(label);
    unread -= 1;
    if (unread < 0) return false;
    const dir = archive.read(runId)?.workflow.dir;
    return dir !== undefined && isBelow({ ...label, file: join(dir, 'stdin') });
  };
}

type Question = {
  readonly runId: string;
  readonly statuses: readonly RunStatus[];
  readonly known: RunStatuses;
  readonly archive: RunArchive;
  readonly filter: RunFilter;
};

/** Whether a finished run certainly has another status: it is remembered, or its journal alone tells it. */
function hasOther({ runId, statuses, known, archive, filter }: Question): boolean {
  const status = known.of(runId);
  if (status !== null) return !statuses.includes(status);
  const run = filter.unknownToo ? null : readFinished(archive, runId);
  if (run === null) return false;
  remember(run, known);
  return !statuses.includes(run.state.status);
}

/** A run that was found to be lost, on a disk that refuses writes, has no stored end. */
function remember({ runId, state, stored }: PastRun, known: RunStatuses | null): void {
  const hasEnd = stored === null || stored.events.some(({ type }) => type === 'run.finished');
  if (hasEnd && isFinished(state)) known?.keep(runId, state.status as FinishedStatus, durationOf(state));
}
