import { ownerName } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { RunArchive, StoredRun } from '#store/store.ts';
import { unlessRefused, WfError } from '#system/errors.ts';
import { foldRun } from './fold-run.ts';

/** A run read from the store; its files may be damaged. */
export type PastRun = {
  readonly runId: string;
  readonly state: RunState;
  /** Null if the stored workflow of the run cannot be read. */
  readonly stored: StoredRun | null;
  readonly damage: readonly string[];
  /** Present: the run is unfinished, and this process cannot determine whether its owner is alive. */
  readonly isUnjudged?: true;
  /** Present: why the copy of this unfinished run of another engine may be old. */
  readonly staleness?: string;
  /** Present: what this unfinished run of another engine waits for, see `Waits`. */
  readonly waits?: readonly string[];
};

/**
 * Reads a run; null if it does not exist. The result reports damage, which is never thrown. `before`: an earlier result
 * of `readPastRun` with it, to which only the events since then are added.
 */
export function readPastRun(archive: RunArchive, runId: string, before?: PastRun | null): PastRun | null {
  try {
    const stored = before === undefined ? archive.read(runId) : archive.readAgain(runId, before?.stored ?? null);
    if (stored === null) return null;
    const known = before?.stored;
    if (before != null && stored === known) return before;
    // A run that was read as a whole shares no object with an earlier result.
    const { state, damage } =
      before != null && stored.workflow === known?.workflow
        ? foldRun(stored.workflow, stored.events.slice(known.events.length), before.state)
        : foldRun(stored.workflow, stored.events);
    return { runId, state: named(state, stored.workflow), stored, damage: [...stored.damage, ...damage] };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    const { events, damage } = readEventsIfAny(archive, runId);
    // The journal may be the file that cannot be read.
    const problems = [...new Set([error.message, ...damage])];
    return { runId, state: foldRun(null, events).state, stored: null, damage: problems };
  }
}

/** Returns a run that must exist. Throws a `WfError` `not-found`. */
export function requireRun(runId: string, run: PastRun | null): PastRun {
  if (run !== null) return run;
  throw new WfError('not-found', `there is no run "${runId}"`);
}

/** Whether no event of a run can be read. Its label may still be known. */
export function isUnknown({ stored, state }: PastRun): boolean {
  return stored === null && state.createdAt === 0;
}

function named(state: RunState, { name, group, file }: Workflow): RunState {
  return state.runId === '' ? { ...state, workflow: name, group, file } : state;
}

/** Returns the JSON view of a past run, with damage to its files as warnings. */
export function summarizePastRun(run: PastRun, createdAt: number): RunSummary {
  const { runId, state, stored, damage } = run;
  const known = { ...state, runId, createdAt: state.createdAt === 0 ? createdAt : state.createdAt };
  const summary = summarize(known, (step, attempt) => stored?.logs.file(step, attempt, 'stdout').path ?? null);
  const { waits = [] } = run;
  const others = [...damage, ...(run.isUnjudged ? [unjudged(run)] : []), ...waits];
  return { ...summary, warnings: [...summary.warnings, ...others] };
}

/** Explains why it is unknown whether the run is running. */
export function unjudged({ state, staleness }: PastRun): string {
  const owner = state.owner ?? state.promise?.by;
  if (owner !== undefined && 'engine' in owner)
    return `${ownerName(owner)} runs it, and this copy may be old: ${staleness ?? 'it was not asked'}`;
  const who = owner === undefined ? 'its process' : ownerName(owner);
  const what = state.owner === null && state.promise !== null ? 'is to start it' : 'runs it';
  return `${who} ${what}, in another container or on another machine: whether that process is alive cannot be determined here`;
}

function readEventsIfAny(archive: RunArchive, runId: string): Pick<StoredRun, 'events' | 'damage'> {
  try {
    return archive.readEvents(runId);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { events: [], damage: [error.message] };
  }
}

/**
 * The events that a reader keeps, of all its runs together. With its part of the state, an event takes about 1 kB of
 * memory, and a run besides its events about as much as a hundred of them.
 */
const MAX_EVENTS = 40_000;
const EVENTS_PER_RUN = 100;

/** Creates a reader like `readPastRun` that keeps the last runs, and folds only their new events. */
export function keepingReader(archive: RunArchive, maxEvents = MAX_EVENTS): (runId: string) => PastRun | null {
  /** The run read last is the last entry. */
  const kept = new Map<string, PastRun>();
  let weight = 0;
  const drop = (runId: string) => {
    const run = kept.get(runId);
    if (run !== undefined) weight -= weightOf(run);
    kept.delete(runId);
  };
  const keep = (run: PastRun) => {
    if (run.damage.length > 0 || weightOf(run) > maxEvents) return;
    kept.set(run.runId, run);
    weight += weightOf(run);
    for (const oldest of kept.keys()) {
      if (weight <= maxEvents) return;
      drop(oldest);
    }
  };
  return (runId) => {
    const run = readPastRun(archive, runId, kept.get(runId) ?? null);
    drop(runId);
    if (run !== null) keep(run);
    return run;
  };
}

function weightOf({ stored }: PastRun): number {
  return (stored?.events.length ?? 0) + EVENTS_PER_RUN;
}

/** Reads a finished run from its journal alone; null for another run, and if its state needs the workflow. */
export function readFinished(archive: Pick<RunArchive, 'readEvents'>, runId: string): PastRun | null {
  return unlessRefused(null, () => {
    const { events, damage } = archive.readEvents(runId);
    const types = new Set(events.map(({ type }) => type));
    const isEnough = types.has('run.created') && types.has('run.finished') && !types.has('step.marked');
    return isEnough ? { runId, state: foldRun(null, events).state, stored: null, damage } : null;
  });
}

/**
 * Whether a run may be unfinished, judged by its directory alone. False for a directory that cannot be read: of another user,
 * or on a damaged disk. One such run must not hide all others.
 */
export function mayBeActive(runId: string, { mayGoOn }: Pick<RunArchive, 'mayGoOn'>): boolean {
  return unlessRefused(false, () => mayGoOn(runId));
}
