import type { RunState } from '../../core/run/run-state.ts';
import { summarize } from '../../core/run/summarize.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Workflow } from '../../core/workflow.ts';
import { WfError } from '../../errors.ts';
import type { RunArchive, StoredRun } from '../../store/store.ts';
import { foldRun } from './fold-run.ts';

/** A run as it was found, whatever state its files are in. */
export type PastRun = {
  readonly runId: string;
  readonly state: RunState;
  /** Null when what the run started from cannot be read. */
  readonly stored: StoredRun | null;
  /** What was found wrong with its files, as sentences. */
  readonly damage: readonly string[];
  /** Present: it is not finished, and whether the process that runs it lives cannot be found out from here. */
  readonly isUnjudged?: true;
};

/** Reads a run; null when there is none. Damage is told in the result, never thrown. */
export function readPastRun(archive: RunArchive, runId: string): PastRun | null {
  try {
    const stored = archive.read(runId);
    if (stored === null) return null;
    const { state, damage } = foldRun(stored.workflow, stored.events);
    return { runId, state: named(state, stored.workflow), stored, damage: [...stored.damage, ...damage] };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    const { events, damage } = readEventsIfAny(archive, runId);
    return { runId, state: foldRun(null, events).state, stored: null, damage: [error.message, ...damage] };
  }
}

/** A run whose first event is lost, or not there yet, is called as what it was made from is. */
function named(state: RunState, { name, group, file }: Workflow): RunState {
  return state.runId === '' ? { ...state, workflow: name, group, file } : state;
}

/** The JSON view of a past run; what is wrong with its files is among the warnings. */
export function summarizePastRun(run: PastRun, createdAt: number): RunSummary {
  const { runId, state, stored, damage } = run;
  const known = { ...state, runId, createdAt: state.createdAt === 0 ? createdAt : state.createdAt };
  const summary = summarize(known, (step, attempt) => stored?.logPaths(step, attempt).stdoutPath ?? null);
  return { ...summary, warnings: [...summary.warnings, ...damage, ...(run.isUnjudged ? [unjudged(run)] : [])] };
}

/** Why it is not known whether a run goes on. */
export function unjudged({ state }: PastRun): string {
  const process = state.owner ?? state.promise?.by;
  const who = process === undefined ? 'its process' : `process ${process.pid} on "${process.host}"`;
  const what = state.owner === null && state.promise !== null ? 'is to start it' : 'runs it';
  return `${who} ${what}, in another container or on another machine: whether that process lives cannot be seen from here`;
}

function readEventsIfAny(archive: RunArchive, runId: string): Pick<StoredRun, 'events' | 'damage'> {
  try {
    return archive.readEvents(runId);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { events: [], damage: [error.message] };
  }
}
