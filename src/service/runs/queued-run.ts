import type { RunInput } from '../../core/run/run.ts';
import { isFinished } from '../../core/run/run-state.ts';
import { transition } from '../../core/run/transition.ts';
import type { Clock } from '../../engine/clock.ts';
import type { TakenRun } from '../../engine/engine.ts';
import { WfError } from '../../errors.ts';
import type { RunArchive, RunJournal, RunQueue } from '../../store/store.ts';
import { type PastRun, readPastRun } from '../history/past-run.ts';
import { type Launch, parseLaunch } from './accept-run.ts';

/** What taking over a run that waits takes. */
export type QueueTools = {
  readonly archive: RunArchive;
  readonly queue: Pick<RunQueue, 'readLaunch' | 'removeLaunch'>;
  readonly clock: Clock;
};

/** A run that waited and belongs to this process now. */
export type ClaimedRun = {
  readonly launch: Launch;
  /** For the engine. */
  readonly taken: TakenRun;
  /** To be called when the first steps are scheduled: what the run began with is removed. */
  readonly begun: () => void;
  /** Instead: ends the run, which could not begin, and gives it up. */
  readonly refuse: (message: string) => Promise<void>;
};

/**
 * Takes a run that waits, to carry it out; of several processes that try one succeeds. Throws a `WfError`: `not-found`,
 * `run-active` when somebody else has it, `run-exists` when it is over, `storage` when what it was to begin with is lost.
 */
export async function claimRun(runId: string, tools: QueueTools): Promise<ClaimedRun> {
  const { queue } = tools;
  const taken = await take(runId, tools);
  const refuse = (message: string) => end(taken, tools, { type: 'refuse', reason: 'error', message });
  const text = queue.readLaunch(runId);
  const launch = text === null ? null : parseLaunch(text);
  if (launch === null) {
    const message = 'what it was to begin with is lost, or was written by another version of wf';
    await refuse(message);
    throw new WfError('storage', `run ${runId} cannot begin: ${message}`);
  }
  const { journal, run } = taken;
  return {
    launch,
    taken: { journal, events: run.stored?.events ?? [] },
    begun: () => removeLaunch(runId, queue),
    refuse,
  };
}

/** What is left of it goes with the run's other files at its end: no reason to fail a run that has begun. */
function removeLaunch(runId: string, queue: QueueTools['queue']): void {
  try {
    queue.removeLaunch(runId);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
  }
}

/** Cancels a run that waits; false when it does not wait any more. Throws a `WfError` `not-found` or `storage`. */
export async function cancelQueued(runId: string, message: string, tools: QueueTools): Promise<boolean> {
  return endQueued(runId, { type: 'cancel', reason: 'stop', message, force: false }, tools);
}

/** Ends a run that waits and cannot begin; false when it does not wait any more. */
export async function refuseQueued(runId: string, message: string, tools: QueueTools): Promise<boolean> {
  return endQueued(runId, { type: 'refuse', reason: 'error', message }, tools);
}

type Ending<Input = Extract<RunInput, { type: 'cancel' | 'refuse' }>> = Input extends unknown
  ? Omit<Input, 'at'>
  : never;
type Taken = { readonly journal: RunJournal; readonly run: PastRun };

async function endQueued(runId: string, ending: Ending, tools: QueueTools): Promise<boolean> {
  try {
    await end(await take(runId, tools), tools, ending);
    return true;
  } catch (error) {
    if (error instanceof WfError && (error.code === 'run-active' || error.code === 'run-exists')) return false;
    throw error;
  }
}

async function end({ journal, run }: Taken, { clock }: QueueTools, ending: Ending): Promise<void> {
  try {
    journal.append(transition(run.state, { ...ending, at: clock.now() }).events);
  } finally {
    await journal.close();
  }
}

/** Looked at twice: whoever was faster may have carried the run to its end before this process got hold of it. */
async function take(runId: string, { archive }: QueueTools): Promise<Taken> {
  requireQueued(runId, readPastRun(archive, runId));
  const journal = archive.openForRecovery(runId);
  try {
    return { journal, run: requireQueued(runId, readPastRun(archive, runId)) };
  } catch (error) {
    // Its owner may have died before the first step: then the run is to wait again, with what it begins with.
    await journal.handBack();
    throw error;
  }
}

function requireQueued(runId: string, run: PastRun | null): PastRun {
  if (run === null) throw new WfError('not-found', `there is no run "${runId}"`);
  const { state } = run;
  if (isFinished(state)) {
    const why = state.message === '' ? '' : `: ${state.message}`;
    throw new WfError('run-exists', `run ${runId} is over already, ${state.status.replace('_', ' ')}${why}`);
  }
  if (state.promise !== null) return run;
  const owner = state.owner === null ? 'another process' : `process ${state.owner.pid} on "${state.owner.host}"`;
  throw new WfError('run-active', `run ${runId} is carried out by ${owner} already`);
}
