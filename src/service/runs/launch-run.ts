import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type ErrorCode, WfError } from '../../errors.ts';

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

/** The descriptor of that pipe in the process. */
export const reportFd = 3;

/** The process ended without a report, or could not be started. */
export class CarrierDied extends WfError {}

/** The functions that start carriers, with descriptors for their standard output, standard error and the pipe. */
export type LaunchTools = {
  readonly openProcessLog: (runId: string) => { readonly fd: number; readonly path: string };
  readonly closeLog: (fd: number) => void;
  readonly spawn: (stdio: StdioOptions) => ChildProcess;
};

/**
 * Starts the carrier of a waiting run, which outlives this process and the terminal. Throws a `WfError` `storage` if the
 * run's directory no longer exists.
 */
export function launchRun(runId: string, { openProcessLog, closeLog, spawn }: LaunchTools): Carrier {
  const log = openProcessLog(runId);
  try {
    const child = spawn(['ignore', log.fd, log.fd, 'pipe']);
    const ended = endOf(child);
    const owned = ownership(child, ended, { runId, path: log.path });
    // The caller may await only one of the two promises.
    owned.catch(() => {});
    return { owned, ended: ended.then(() => {}) };
  } finally {
    closeLog(log.fd);
  }
}

async function ownership(
  child: ChildProcess,
  ended: Promise<string>,
  { runId, path }: { readonly runId: string; readonly path: string },
): Promise<void> {
  const text = await readReport(child);
  const help = `its output is in "${path}"`;
  if (text === null) {
    const message = `the process that should carry run ${runId} ended before the run began: ${await ended}`;
    throw new CarrierDied('storage', message, { help });
  }
  // Not earlier: without a report, only the end of the process is a sign, and this process must wait for it.
  child.unref();
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

/** Reads one line. Null if the pipe is closed without a line, or could not be created. */
function readReport(child: ChildProcess): Promise<string | null> {
  const pipe = child.stdio?.[reportFd] as Readable | null | undefined;
  if (!pipe || pipe.destroyed) return Promise.resolve(null);
  let text = '';
  return new Promise((resolve) => {
    pipe.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (!text.endsWith('\n')) return;
      resolve(text);
      pipe.destroy();
    });
    pipe.on('error', () => {}).once('close', () => resolve(null));
    child.once('error', () => pipe.destroy());
  });
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit ${code}` : `killed by ${signal}`));
  });
}
