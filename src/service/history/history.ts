import type { Owner, StoredEvent } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { countByHour, type RunsOfHour } from './count-runs.ts';
import { judgeRun, type LostRunTools, releaseFinished, settleLostRun } from './lost-run.ts';
import { isUnknown, type PastRun, readPastRun, summarizePastRun } from './past-run.ts';
import { findRunId, namesWorkflow, noSuchRun, type Reach, unreadable } from './run-reference.ts';
import { type RunFilter, type RunPlace, selectRuns } from './select-runs.ts';

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
  /**
   * Returns the run that a reference names: an id or a unique prefix of one, `@latest`, `@failed`, or a workflow (its
   * last run). Throws a `WfError`: `not-found`, or `usage` if several runs match.
   */
  readonly find: (word: string) => Promise<PastRun>;
  readonly read: (runId: string) => Promise<PastRun | null>;
  /** Yields the events after those in `run`, until the run has finished, is removed, or the signal is aborted. */
  readonly follow: (run: PastRun, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /** Waits for a run that the reference names; null if the signal is aborted first. Throws as `find` does. */
  readonly await: (word: string, signal: AbortSignal) => Promise<PastRun | null>;
  /** Yields runs, newest first. Reads only as many as needed and yields to the event loop between them. */
  readonly list: (filter: RunFilter) => AsyncIterable<PastRun>;
  readonly placeOf: (run: PastRun) => RunPlace;
  /** Counts the runs of each of the last hours, the oldest first. */
  readonly countByHour: (period: { readonly now: number; readonly hours: number }) => Promise<readonly RunsOfHour[]>;
  /** Whether the workflow has any run. */
  readonly knowsWorkflow: (name: string) => boolean;
  readonly summarize: (run: PastRun) => RunSummary;
};

/** Creates the history of an archive. `readRun`: a replacement for `readPastRun`. */
export function createHistory(tools: LostRunTools, reach: Reach, readRun = readerOf(tools)): History {
  const { archive } = tools;
  const read = async (runId: string): Promise<PastRun | null> => {
    const run = readRun(runId);
    if (run === null || isFinished(run.state)) return run;
    const verdict = await judgeRun(run, tools);
    if (verdict === 'alive') return run;
    return verdict === 'gone' ? settleLostRun(run, tools) : { ...run, isUnjudged: true };
  };
  const list = (filter: RunFilter) => selectRuns(filter, { archive, reach, read });
  const look = async (word: string) => {
    const run = await (special(word, list, reach) ?? readFound(findRunId(archive, word, reach), read));
    if (run !== null) await releaseFinished(run, tools);
    return run;
  };
  return {
    read,
    list,
    countByHour: (period) => countByHour(period, { archive, reach, read }),
    placeOf: ({ runId }) => ({ at: archive.timeOf(runId), runId }),
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

function readerOf({ archive }: LostRunTools): (runId: string) => PastRun | null {
  return (runId) => readPastRun(archive, runId);
}

/** Chooses from the runs of files below the directory if there are any, else from all. */
function special(word: string, list: History['list'], reach: Reach): Promise<PastRun | null> | null {
  return word === '@latest' || word === '@failed' ? lastOf(word, list, reach) : null;
}

/** A run of a sub-workflow is found only if there is no other. */
async function lastOf(word: '@latest' | '@failed', list: History['list'], reach: Reach): Promise<PastRun | null> {
  const { cwd, any, tell = () => {} } = reach;
  const last = (filter: Partial<RunFilter>) => firstOf(list({ ...anyRun, ...filter, limit: 1 }));
  const isHere = !any && (await last({ below: cwd, topLevel: true })) !== null;
  const filter = { statuses: word === '@failed' ? (['failed'] as const) : null, below: isHere ? cwd : null };
  const run = (await last({ ...filter, topLevel: true })) ?? (await last(filter));
  const what = word === '@failed' ? 'the last failed run' : 'the last run';
  if (run !== null && !any)
    tell(isHere ? `${what} of a file below ${cwd}` : `${what} of all: no file below ${cwd} has run`);
  return run;
}

async function firstOf(runs: AsyncIterable<PastRun>): Promise<PastRun | null> {
  for await (const run of runs) return run;
  return null;
}

function readFound(runId: string | null, read: History['read']): Promise<PastRun | null> {
  return runId === null ? Promise.resolve(null) : read(runId);
}

/** The dependencies of following a run; `read` settles a run whose owner has died. */
type FollowTools = Pick<LostRunTools, 'archive' | 'clock' | 'isAlive' | 'isElsewhere'> & {
  readonly read: (runId: string) => Promise<PastRun | null>;
};

/** The interval of the check that the owner of the run is alive. */
const lookMs = 1000;

/**
 * Yields the events after those in `run`, until the run has finished, is removed, or the signal is aborted. If its owner
 * dies meanwhile, the run is settled, which adds its last event.
 */
async function* followRun(run: PastRun, tools: FollowTools, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
  const { archive, clock } = tools;
  let owner = run.state.owner;
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted || isFinished(run.state)) end();
  let failure: { readonly error: unknown } | null = null;
  let cancelTimer = () => {};
  const look = () => isOver(run.runId, owner, tools).then((isSo) => (isSo ? end() : lookLater()));
  const fail = (error: unknown) => {
    failure = { error };
    end();
  };
  const lookLater = () => {
    if (!over.signal.aborted) cancelTimer = clock.setTimer(clock.now() + lookMs, () => void look().catch(fail));
  };
  lookLater();
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
async function isOver(runId: string, owner: Owner | null, tools: FollowTools): Promise<boolean> {
  const { isAlive, isElsewhere = () => false, read } = tools;
  if (owner !== null && isAlive(owner) && !isElsewhere(owner)) return false;
  const run = await read(runId);
  return run === null || isFinished(run.state);
}
