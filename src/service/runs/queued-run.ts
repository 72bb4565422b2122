import { ownerName, type RunInput } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { runVariableNames } from '#core/run-variables.ts';
import type { RunRequest, TakenRun } from '#engine/engine.ts';
import type { Environment } from '#environment/environment.ts';
import type { RunArchive, RunJournal, RunQueue } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, unlessRefused, WfError } from '#system/errors.ts';
import { type PastRun, readPastRun, requireRun } from '../history/past-run.ts';
import type { AcceptedRun } from '../service.ts';

/** The context of the requester, from which the carrier loads its configuration. */
export type RunContext = {
  readonly env: Environment;
  readonly cwd: string;
  /** The workflows directory given by an option; null: the default. */
  readonly dags: string | null;
  readonly isDaemon: boolean;
};

/** The data that the carrier needs to run it, secrets included. */
type Launch = {
  readonly format: typeof LAUNCH_FORMAT;
  readonly request: RunRequest;
  readonly context: RunContext;
};

const LAUNCH_FORMAT = 1;

/** How new runs are stored, and how a stored run is started or waits for its turn. */
export type StartOfRuns = {
  readonly store: (request: RunRequest) => Promise<AcceptedRun>;
  readonly begin: (runId: string) => Promise<void>;
};

/** Stores a run for a later process; `store` writes it. Throws `usage` for an invalid id, `storage`. */
export async function storeRun(
  request: RunRequest,
  context: RunContext,
  store: (request: RunRequest, own: { processEnv: Environment; launch: string }) => Promise<void>,
): Promise<AcceptedRun> {
  const { runId } = request;
  const env = withoutRun(context.env);
  const launch: Launch = { format: LAUNCH_FORMAT, request, context: { ...context, env } };
  try {
    await store(request, { processEnv: env, launch: JSON.stringify(launch) });
    return { runId, isNew: true };
  } catch (error) {
    if (!failedAs(error, 'run-exists')) throw error;
    return { runId, isNew: false };
  }
}

/**
 * Returns the environment for a process that outlives the step that starts it: with the variables of that step it would be
 * part of its run, and would end with it.
 */
export function withoutRun(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !runVariableNames.includes(name)));
}

/** The dependencies of claiming a waiting run. */
export type QueueTools = {
  readonly archive: RunArchive;
  readonly queue: Pick<RunQueue, 'readLaunch' | 'removeLaunch'>;
  readonly clock: Clock;
};

/** A waiting run that this process has claimed. */
export type ClaimedRun = {
  readonly launch: Launch;
  /** For the engine. */
  readonly taken: TakenRun;
  /** Removes the launch data. Call it when the first steps are scheduled. */
  readonly begun: () => void;
  /** Call it instead of `begun` if the run cannot begin: fails the run and releases it. */
  readonly refuse: (message: string) => Promise<void>;
};

/**
 * Claims a waiting run in order to run it; only one of several processes succeeds. Throws a `WfError`: `not-found`,
 * `run-active` if another process owns the run, `run-exists` if it has finished, `storage` if its launch data is lost.
 */
export async function claimRun(runId: string, tools: QueueTools): Promise<ClaimedRun> {
  const { queue } = tools;
  const taken = await take(runId, tools);
  const refuse = (message: string) => end(taken, tools, { type: 'refuse', reason: 'error', message });
  const text = queue.readLaunch(runId);
  const launch = text === null ? null : (JSON.parse(text) as Launch);
  if (launch?.format !== LAUNCH_FORMAT) {
    const message = 'its launch data is lost, or was written by another version of wf';
    await refuse(message);
    throw new WfError('storage', `run ${runId} cannot start: ${message}`);
  }
  const { journal, run } = taken;
  return {
    launch,
    taken: { journal, events: run.stored?.events ?? [] },
    // A refusal of the disk is ignored, since the data is removed with the run's other files later.
    begun: () => void unlessRefused(null, () => queue.removeLaunch(runId)),
    refuse,
  };
}

/** Cancels a waiting run; false if it no longer waits. Throws a `WfError` `not-found` or `storage`. */
export async function cancelQueued(runId: string, message: string, tools: QueueTools): Promise<boolean> {
  return endQueued(runId, { type: 'cancel', reason: 'stop', message, force: false }, tools);
}

/** Fails a waiting run that cannot begin; false if it no longer waits. */
export async function refuseQueued(runId: string, message: string, tools: QueueTools): Promise<boolean> {
  return endQueued(runId, { type: 'refuse', reason: 'error', message }, tools);
}

/** Records that a waiting run is late; false if it no longer waits, or is late already. */
export async function recordLate(runId: string, tools: Pick<QueueTools, 'archive' | 'clock'>): Promise<boolean> {
  try {
    const { journal, run } = await take(runId, tools);
    try {
      const { events } = transition(run.state, { type: 'late-due', at: tools.clock.now(), step: null });
      if (events.length > 0) journal.append(events);
      return events.length > 0;
    } finally {
      await journal.handBack();
    }
  } catch (error) {
    if (failedAs(error, 'run-active', 'run-exists', 'not-found')) return false;
    throw error;
  }
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
    if (failedAs(error, 'run-active', 'run-exists')) return false;
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

/** Claims the run and reads it again, since another process may have finished it in the meantime. */
async function take(runId: string, { archive }: Pick<QueueTools, 'archive'>): Promise<Taken> {
  requireQueued(runId, readPastRun(archive, runId));
  const journal = archive.openForRecovery(runId);
  try {
    return { journal, run: requireQueued(runId, readPastRun(archive, runId)) };
  } catch (error) {
    // If the owner died before the first step, the run waits again and needs its launch data.
    await journal.handBack();
    throw error;
  }
}

function requireQueued(runId: string, found: PastRun | null): PastRun {
  const run = requireRun(runId, found);
  const { state } = run;
  if (isFinished(state)) {
    const why = state.message === '' ? '' : `: ${state.message}`;
    throw new WfError('run-exists', `run ${runId} has already finished, ${state.status.replace('_', ' ')}${why}`);
  }
  if (state.promise !== null) return run;
  const owner = state.owner === null ? 'another process' : ownerName(state.owner);
  throw new WfError('run-active', `run ${runId} is already owned by ${owner}`);
}
