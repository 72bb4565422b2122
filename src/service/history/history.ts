import { join } from 'node:path';
import { given } from '#core/data/collections.ts';
import type { FinishedStatus, RunStatus, StoredEvent } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { durationOf } from '#core/summary/summarize.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { hasTag } from '#core/tags.ts';
import type { RunRef } from '#engine/engine.ts';
import type { RunArchive, RunLabel, RunStatuses } from '#store/store.ts';
import { createSlices } from '#system/turns.ts';
import { type LostRunTools, referenceTo, releaseFinished, settleLostRun } from './lost-run.ts';
import { isUnknown, mayBeActive, type PastRun, readFinished, readPastRun, summarizePastRun } from './past-run.ts';
import { findRunId, liesBelow, namesWorkflow, noSuchRun, type Reach, unreadable } from './run-reference.ts';

/** The filter that selects every run. */
export const anyRun: RunFilter = {
  workflow: null,
  statuses: null,
  from: null,
  to: null,
  limit: Number.POSITIVE_INFINITY,
};

/**
 * The stored runs. A run whose owner has died is settled before it is returned, so it never appears as running. Damaged
 * files never make a call fail: the result reports the damage.
 */
export type History = {
  /** Returns the run that a reference names, as in `Service`. Throws `not-found`, or `usage` if several match. */
  readonly find: (word: string) => Promise<PastRun>;
  readonly read: (runId: string) => Promise<PastRun | null>;
  /** The run with what it waits for, if another engine carries it out. */
  readonly withWaits: (run: PastRun) => Promise<PastRun>;
  /** Yields the events after those in `run`, until the run has finished, is removed, or the signal is aborted. */
  readonly follow: (run: PastRun, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /** Waits for a run that the reference names; null if the signal is aborted first. Throws as `find` does. */
  readonly await: (word: string, signal: AbortSignal) => Promise<PastRun | null>;
  /** Yields runs, newest first. Reads only as many as needed and yields to the event loop between them. */
  readonly list: (filter: RunFilter) => AsyncIterable<PastRun>;
  readonly positionOf: (run: PastRun) => RunPosition;
  /** Counts the runs of each of the last hours, the oldest first. */
  readonly countByHour: (period: { readonly now: number; readonly hours: number }) => Promise<readonly RunsOfHour[]>;
  readonly knowsWorkflow: (name: string) => boolean;
  readonly summarize: (run: PastRun) => RunSummary;
};

/** Creates the history of an archive. `readRun`: a replacement for `readPastRun`. */
export function createHistory(
  tools: LostRunTools,
  reach: Reach,
  readRun = (runId: string) => readPastRun(tools.archive, runId),
): History {
  const { archive } = tools;
  const read = async (runId: string): Promise<PastRun | null> => {
    const run = readRun(runId);
    if (run === null || isFinished(run.state)) return run;
    if (run.state.owner !== null && 'engine' in run.state.owner) return readCopy(run);
    const verdict = await tools.judge(referenceTo(run));
    if (verdict === 'alive') return run;
    return verdict === 'gone' ? settleLostRun(run, tools) : { ...run, isUnjudged: true };
  };
  /** What another engine has done meanwhile is in the journal when the copy has caught up. */
  const readCopy = async (run: PastRun): Promise<PastRun | null> => {
    const problem = await tools.catchUp?.(referenceTo(run));
    const copied = readRun(run.runId);
    if (problem === null || copied === null || isFinished(copied.state)) return copied;
    return { ...copied, isUnjudged: true, ...given({ staleness: problem }) };
  };
  const list = (filter: RunFilter) => selectRuns(filter, { archive, reach, read });
  const look = async (word: string) => {
    const isLast = word === '@latest' || word === '@failed';
    const runId = isLast ? null : findRunId(archive, word, reach);
    const run = isLast ? await lastOf(word, list, reach) : runId === null ? null : await read(runId);
    if (run !== null) await releaseFinished(run, tools);
    return run;
  };
  return {
    read,
    list,
    withWaits: async (run) => {
      const { owner } = run.state;
      if (isFinished(run.state) || owner === null || !('engine' in owner)) return run;
      const waits = (await tools.waitsOf?.(referenceTo(run))) ?? [];
      return waits.length === 0 ? run : { ...run, waits };
    },
    countByHour: (period) => countByHour(period, { archive, reach, read }),
    positionOf: ({ runId }) => ({ at: archive.timeOf(runId), runId }),
    follow: (run, signal) => followRun(run, { ...tools, read }, signal),
    await: async (word, signal) => {
      // Watch before the first look, so that no run in between is missed.
      for await (const _ of archive.changes(signal)) {
        const run = await look(word);
        if (run !== null) return run;
      }
      return null;
    },
    find: async (word) => {
      const run = await look(word);
      if (run !== null && !(isUnknown(run) && archive.readLabel(run.runId) === null)) return run;
      const runId = run?.runId ?? findRunId(archive, word, reach);
      throw runId === null ? noSuchRun(archive, word, reach) : unreadable(archive, runId, run?.damage ?? []);
    },
    knowsWorkflow: (name) => {
      const ids = archive.list();
      const labelOf = archive.labels(ids);
      const isMeant = namesWorkflow(name, reach);
      return ids.some((id) => isMeant(labelOf(id)));
    },
    summarize: (run) => summarizePastRun(run, archive.timeOf(run.runId)),
  };
}

/** Prefers runs of files below the directory; a run of a sub-workflow is found only if there is no other. */
async function lastOf(word: '@latest' | '@failed', list: History['list'], reach: Reach): Promise<PastRun | null> {
  const { cwd, any, tell = () => {} } = reach;
  const last = (filter: Partial<RunFilter>) => firstOf(list({ ...anyRun, ...filter, limit: 1 }));
  const isHere = !any && (await last({ below: cwd, topLevel: true })) !== null;
  const filter = { statuses: word === '@failed' ? (['failed'] as const) : null, below: isHere ? cwd : null };
  const run = (await last({ ...filter, topLevel: true })) ?? (await last(filter));
  const what = word === '@failed' ? 'the last failed run' : 'the last run';
  if (run === null || any) return run;
  const { file, workflow } = run.state;
  tell(
    isHere
      ? `${what} of a file below ${cwd}`
      : `${what} of all, ${run.runId} of ${file ?? workflow}: no file below ${cwd} has run`,
  );
  return run;
}

async function firstOf(runs: AsyncIterable<PastRun>): Promise<PastRun | null> {
  for await (const run of runs) return run;
  return null;
}

type FollowTools = Pick<LostRunTools, 'archive' | 'clock' | 'judge' | 'catchUp'> & Pick<History, 'read'>;

/** The interval of the check that the owner of the run is alive. */
const POLL_MS = 1000;

/** Follows as `History.follow` does; a run whose owner dies is settled, which adds its last event. */
async function* followRun(run: PastRun, tools: FollowTools, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
  const { archive, clock } = tools;
  let owner = run.state.owner;
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted || isFinished(run.state)) end();
  let failure: { readonly error: unknown } | null = null;
  let cancelTimer = () => {};
  const look = () => isOver({ runId: run.runId, owner, promise: null }, tools, over.signal).then(lookAgain);
  const lookAgain = (isSo: boolean) => (isSo ? end() : lookLater());
  const fail = (error: unknown) => {
    failure = { error };
    end();
  };
  const lookLater = () => {
    if (!over.signal.aborted) cancelTimer = clock.setTimer(clock.now() + POLL_MS, () => void look().catch(fail));
  };
  if (owner !== null && 'engine' in owner) void look().catch(fail);
  else lookLater();
  try {
    for await (const event of archive.followEvents(run.runId, run.stored?.events.at(-1)?.seq ?? 0, over.signal)) {
      if (event.type === 'run.owned') owner = event.owner;
      yield event;
    }
    if (failure !== null) throw (failure as { error: unknown }).error;
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Whether the run has finished. On a read-only disk the journal of a lost run lacks its last event. */
async function isOver(ref: RunRef, tools: FollowTools, until: AbortSignal): Promise<boolean> {
  const { archive, judge, read, catchUp } = tools;
  const { owner, runId } = ref;
  if (owner !== null && 'engine' in owner) {
    await catchUp?.(ref, until);
    return !archive.mayGoOn(runId);
  }
  if (owner !== null && (await judge(ref)) === 'alive') return false;
  const run = await read(runId);
  return run === null || isFinished(run.state);
}

/** Returns the last finished run of the same workflow before this one; null if it has none. */
export async function earlierRun(run: PastRun, history: History): Promise<RunSummary | null> {
  const { file, workflow } = history.summarize(run);
  const filter = { ...anyRun, workflow: file ?? workflow, behind: history.positionOf(run) };
  for await (const past of history.list(filter)) {
    if (isFinished(past.state)) return history.summarize(past);
  }
  return null;
}

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
  readonly active?: boolean;
  /** Only runs that no step of another run started. */
  readonly topLevel?: boolean;
  readonly queue?: string | null;
  /** Only runs of workflows with this tag, ignoring case. */
  readonly tag?: string | null;
  /** Only runs of files below this directory, and those without a file that were started there. */
  readonly below?: string | null;
  readonly behind?: RunPosition | null;
  /** Runs whose status is not remembered are selected whatever it is, so that the caller can limit how many are read. */
  readonly unknownToo?: boolean;
};

/** The position of a run in the list of all runs, newest first; the run may have been removed. */
export type RunPosition = { readonly at: number; readonly runId: string };

type SelectTools = Pick<History, 'read'> & { readonly archive: RunArchive; readonly reach: Reach };

/** The number of newest runs without a file that are read to learn their directory. */
const MOST_WITHOUT_FILE = 50;

/** Yields the selected runs, newest first. Reads only as many as needed. */
export async function* selectRuns(filter: RunFilter, { archive, reach, read }: SelectTools): AsyncIterable<PastRun> {
  const { statuses, limit, waiting = false, active = false, unknownToo = false } = filter;
  const ids = archive.list();
  const known = statuses === null ? null : archive.statuses(ids);
  const pause = createSlices();
  let left = limit;
  try {
    for (const runId of placedRuns(ids, filter, { archive, reach })) {
      if (left <= 0) return;
      const turn = pause();
      if (turn !== null) await turn;
      if ((waiting || active) && !mayBeActive(runId, archive)) continue;
      if (!hasBegunSo(archive, runId, filter)) continue;
      const status = known?.of(runId) ?? (known === null || unknownToo ? null : storedStatus(runId, known, archive));
      if (statuses !== null && status !== null && !statuses.includes(status)) continue;
      const run = await read(runId);
      if (run === null) continue;
      remember(run, known);
      if (statuses !== null && !unknownToo && !statuses.includes(run.state.status)) continue;
      if ((waiting && run.state.held === 0) || (active && isFinished(run.state))) continue;
      left -= 1;
      yield run;
    }
  } finally {
    known?.save();
  }
}

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
  let unread = MOST_WITHOUT_FILE;
  return (runId, label) => {
    if (label === null || label.file !== null) return isBelow(label);
    unread -= 1;
    if (unread < 0) return false;
    const dir = archive.read(runId)?.workflow.dir;
    return dir !== undefined && isBelow({ ...label, file: join(dir, 'stdin') });
  };
}

/** Returns the status of a finished run if its journal alone tells it, and remembers it. */
function storedStatus(runId: string, known: RunStatuses, archive: RunArchive): RunStatus | null {
  const run = readFinished(archive, runId);
  if (run !== null) remember(run, known);
  return run?.state.status ?? null;
}

/** A run that was found to be lost, on a disk that refuses writes, has no stored end. */
function remember({ runId, state, stored }: PastRun, known: RunStatuses | null): void {
  const hasEnd = stored === null || stored.events.some(({ type }) => type === 'run.finished');
  if (hasEnd && isFinished(state)) known?.keep(runId, state.status as FinishedStatus, durationOf(state));
}

/** The number of runs that were created in one hour, by status. `from`: milliseconds since 1970-01-01 UTC. */
type RunsOfHour = { readonly from: number; readonly statuses: Readonly<Partial<Record<RunStatus, number>>> };

export const HOUR_MS = 3_600_000;

/** Counts the runs of each hour of UTC up to that of `now`, oldest first. Reads only runs without a remembered status. */
export async function countByHour(
  { now, hours }: { readonly now: number; readonly hours: number },
  { archive, reach, read }: SelectTools,
): Promise<readonly RunsOfHour[]> {
  const last = Math.floor(now / HOUR_MS);
  const counts = Array.from({ length: hours }, (_, index) => ({
    from: (last - hours + 1 + index) * HOUR_MS,
    statuses: {} as Partial<Record<RunStatus, number>>,
  }));
  const from = (last - hours + 1) * HOUR_MS;
  const ids = archive.list();
  const known = archive.statuses(ids);
  const pause = createSlices();
  try {
    for (const runId of placedRuns(ids, { workflow: null, from, to: null }, { archive, reach })) {
      await pause();
      const remembered = known.of(runId);
      const run = remembered === null ? await read(runId) : null;
      if (run !== null) remember(run, known);
      const status = remembered ?? run?.state.status;
      const hour = counts[Math.floor((archive.timeOf(runId) - from) / HOUR_MS)];
      if (status !== undefined && hour !== undefined) hour.statuses[status] = (hour.statuses[status] ?? 0) + 1;
    }
  } finally {
    known.save();
  }
  return counts;
}
