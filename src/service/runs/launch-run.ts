import { type ErrorCode, WfError } from '#system/errors.ts';

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
export type CarrierProcess = {
  /** The line of its report, with its end; null if it closed the pipe without one, or could not be started. */
  readonly report: Promise<string | null>;
  /** Its end in words, or why it could not be started. */
  readonly ended: Promise<string>;
  /** Lets this process exit before it. */
  readonly unref: () => void;
};

/** An open file. */
type OpenFile = { readonly fd: number; readonly path: string };

/** The functions that start carriers; `start` gets the file for all their output. */
export type LaunchTools = {
  readonly openProcessLog: (runId: string) => OpenFile;
  readonly closeLog: (fd: number) => void;
  readonly start: (log: OpenFile) => CarrierProcess;
};

/**
 * Starts the carrier of a waiting run, which outlives this process and the terminal. Throws a `WfError` `storage` if the
 * run's directory no longer exists.
 */
export function launchRun(runId: string, { openProcessLog, closeLog, start }: LaunchTools): Carrier {
  const log = openProcessLog(runId);
  try {
    const started = start(log);
    const owned = ownership(started, { runId, path: log.path });
    // The caller may await only one of the two promises.
    owned.catch(() => {});
    return { owned, ended: started.ended.then(() => {}) };
  } finally {
    closeLog(log.fd);
  }
}

async function ownership(
  { report: reported, ended, unref }: CarrierProcess,
  { runId, path }: { readonly runId: string; readonly path: string },
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
  if (report !== null)
    throw new WfError(report.code, report.message, report.help === null ? {} : { help: report.help });
  const sent = JSON.stringify(text.trimEnd().slice(0, 200));
  throw new WfError('storage', `the process that should carry run ${runId} sent an invalid report: ${sent}`, { help });
}

/** Null for anything but a `CarrierReport`. */
function parseReport(text: string): CarrierReport | null {
  try {
    const report = JSON.parse(text) as Partial<CarrierReport> | null;
    if (report?.owned === true) return { owned: true };
    if (report?.owned !== false || typeof report.code !== 'string') return null;
    return { owned: false, code: report.code, message: String(report.message), help: report.help ?? null };
  } catch {
    return null;
  }
}
