import { isFinished } from '#core/run/run-state.ts';
import type { Clock } from '#system/clock.ts';
import { messageOf, systemProblem, WfError } from '#system/errors.ts';
import { readPastRun } from '../history/past-run.ts';
import { type Carrier, CarrierDied } from './launch-run.ts';
import { type QueueTools, refuseQueued } from './queued-run.ts';

/** The dependencies of starting the carrier of a waiting run. */
export type StartTools = {
  readonly launch: (runId: string) => Carrier;
  readonly clock: Clock;
  /** Asked before each restart: whether the run still waits for a carrier of this process. */
  readonly isWanted: () => boolean;
  /**
   * Makes an attempt when its turn has come; null: the run is no longer wanted. A pause before a restart takes no turn.
   * Default: at once.
   */
  readonly inTurn?: (attempt: () => Promise<Carrier>) => Promise<Carrier | null>;
  /** Receives the reason of each restart. */
  readonly report: (error: unknown) => void;
};

/** The pauses before the restarts of a carrier; there are no more restarts than pauses. */
const restartPausesMs = [100, 500, 2500];

/**
 * Starts the process for a waiting run and resolves to the process once it owns the run; to null if the run is no longer wanted. A
 * carrier that ended without a report, or that the machine could not start, owned nothing, so it is started again, at most 3
 * times. Throws what `launch` and `Carrier.owned` throw.
 */
export async function startCarrier(runId: string, tools: StartTools): Promise<Carrier | null> {
  const { launch, clock, isWanted, inTurn = (attempt) => attempt(), report } = tools;
  const attempt = async () => {
    const carrier = launch(runId);
    await carrier.owned;
    return carrier;
  };
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await inTurn(attempt);
    } catch (error) {
      const pauseMs = restartPausesMs[restarts];
      if (pauseMs === undefined || !mayPass(error)) throw error;
      report(error);
      await new Promise<void>((resolve) => void clock.setTimer(clock.now() + pauseMs, resolve));
      if (!isWanted()) return null;
    }
  }
}

/** A carrier that reported why it refuses the run would refuse it again. */
function mayPass(error: unknown): boolean {
  return error instanceof CarrierDied || systemProblem(error)?.status === 503;
}

/**
 * Starts the process for a waiting run, and resolves when that process owns the run, or has owned it and died. If the
 * process cannot start, throws the reason, which is recorded as the failure of the run. Throws a `WfError` `storage` if
 * the failure cannot be recorded; the run then still waits.
 */
export async function beginRun(
  runId: string,
  control: QueueTools & { readonly launch: (runId: string) => Carrier },
): Promise<void> {
  try {
    const { launch, clock } = control;
    await startCarrier(runId, { launch, clock, isWanted: () => isWaiting(runId, control), report: () => {} });
  } catch (error) {
    await refuseFor(error, runId, control);
    throw error;
  }
}

/** False also for a run whose carrier died after `run.owned` and before its report: that run is lost. */
function isWaiting(runId: string, { archive }: QueueTools): boolean {
  const run = readPastRun(archive, runId);
  return run !== null && !isFinished(run.state) && run.state.promise !== null;
}

async function refuseFor(error: unknown, runId: string, tools: QueueTools): Promise<void> {
  if (error instanceof WfError && ['run-active', 'run-exists', 'not-found'].includes(error.code)) return;
  const reason = reasonOf(error);
  try {
    await refuseQueued(runId, reason, tools);
  } catch (cause) {
    const message = `run ${runId} could not begin and still waits: ${reason}; its failure cannot be recorded: ${reasonOf(cause)}`;
    throw new WfError('storage', message, { cause });
  }
}

function reasonOf(error: unknown): string {
  return systemProblem(error)?.message ?? messageOf(error);
}
