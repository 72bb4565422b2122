import { given } from '#core/data/collections.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { Clock } from '#system/clock.ts';
import { type ErrorCode, messageOf, systemProblem, tryOr, WfError } from '#system/errors.ts';
import { readPastRun } from '../history/past-run.ts';
import { type QueueTools, refuseQueued } from './queued-run.ts';

/** The process that carries out one run. */
export type Carrier = {
  /**
   * Resolves when the process owns the run. Rejects with the reported `WfError`, with a `CarrierDied` if there is no report,
   * or with a `WfError` `storage` if the report is invalid.
   */
  readonly owned: Promise<void>;
  /** Resolves when the process has ended, whatever the outcome of the run. */
  readonly ended: Promise<void>;
};

/** The report of the process through its pipe, as one line of JSON: it owns the run, or why it refuses the run. */
export type CarrierReport =
  | { readonly owned: true }
  | { readonly owned: false; readonly code: ErrorCode; readonly message: string; readonly help: string | null };

/** The process ended without a report, or could not be started. */
export class CarrierDied extends WfError {}

/** A started process, as the caller sees it. */
type CarrierProcess = {
  /** The line of its report, with its end; null if it closed the pipe without one, or could not be started. */
  readonly report: Promise<string | null>;
  /** Its end in words, or why it could not be started. */
  readonly ended: Promise<string>;
  /** Lets this process exit before it. */
  readonly unref: () => void;
};

type OpenFile = { readonly fd: number; readonly path: string };

/** The functions that start carriers; `start` gets the file for all their output. */
type LaunchTools = {
  readonly openProcessLog: (runId: string) => OpenFile;
  readonly closeLog: (fd: number) => void;
  readonly start: (log: OpenFile) => CarrierProcess;
};

/** Starts the carrier of a waiting run, which outlives this process. Throws a `WfError` `storage`. */
export function launchRun(runId: string, { openProcessLog, closeLog, start }: LaunchTools): Carrier {
  const log = openProcessLog(runId);
  try {
    const started = start(log);
    const owned = ownership(started, runId, log.path);
    // The caller may await only one of the two promises.
    owned.catch(() => {});
    return { owned, ended: started.ended.then(() => {}) };
  } finally {
    closeLog(log.fd);
  }
}

async function ownership(
  { report: reported, ended, unref }: CarrierProcess,
  runId: string,
  path: string,
): Promise<void> {
  const text = await reported;
  const help = `its output is in "${path}"`;
  if (text === null) {
    const message = `the process that should carry run ${runId} ended before the run began: ${await ended}`;
    throw new CarrierDied('storage', message, { help });
  }
  // Not earlier: without a report, only the end of the process is a sign, and this process must wait for it.
  unref();
  const report = parseReport(text);
  if (report?.owned === true) return;
  if (report !== null) throw new WfError(report.code, report.message, given({ help: report.help }));
  const sent = JSON.stringify(text.trimEnd().slice(0, 200));
  throw new WfError('storage', `the process that should carry run ${runId} sent an invalid report: ${sent}`, { help });
}

/** Null for anything but a `CarrierReport`. */
function parseReport(text: string): CarrierReport | null {
  const report = tryOr(null, () => JSON.parse(text) as Partial<CarrierReport> | null);
  if (report?.owned === true) return { owned: true };
  if (report?.owned !== false || typeof report.code !== 'string') return null;
  return { owned: false, code: report.code, message: String(report.message), help: report.help ?? null };
}

type StartTools = {
  readonly launch: (runId: string) => Carrier;
  readonly clock: Clock;
  /** Asked before each restart: whether the run still waits for a carrier of this process. */
  readonly isWanted: () => boolean;
  /** Makes an attempt in its turn, at once by default; null: the run is no longer wanted. */
  readonly inTurn?: (attempt: () => Promise<Carrier>) => Promise<Carrier | null>;
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
      // A carrier that reported why it refuses the run would refuse it again.
      const mayPass = error instanceof CarrierDied || systemProblem(error)?.status === 503;
      if (pauseMs === undefined || !mayPass) throw error;
      report(error);
      await new Promise<void>((resolve) => void clock.setTimer(clock.now() + pauseMs, resolve));
      if (!isWanted()) return null;
    }
  }
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
    const message = `run ${runId} could not start and still waits: ${reason}; its failure cannot be recorded: ${reasonOf(cause)}`;
    throw new WfError('storage', message, { cause });
  }
}

function reasonOf(error: unknown): string {
  return systemProblem(error)?.message ?? messageOf(error);
}
