import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type ErrorCode, WfError } from '../../errors.ts';

/** A process that was started to carry out one run. */
export type Carrier = {
  /** Resolves when the process owns the run. Rejects with a `WfError` that says what kept it from that, a `CarrierDied` without its report. */
  readonly owned: Promise<void>;
  /** Resolves when the process has ended, which says nothing about the run. */
  readonly ended: Promise<void>;
};

/** What the process tells through its pipe, as one line of JSON: that it owns the run, or what it refuses it for. */
export type CarrierReport =
  | { readonly owned: true }
  | { readonly owned: false; readonly code: ErrorCode; readonly message: string; readonly help: string | null };

/** The descriptor of that pipe in the process. */
export const reportFd = 3;

/** The process ended without a report, or could not be started. */
export class CarrierDied extends WfError {}

/** How processes that carry runs are started, with descriptors for their standard output and error and the pipe. */
export type LaunchTools = {
  readonly openProcessLog: (runId: string) => { readonly fd: number; readonly path: string };
  readonly closeLog: (fd: number) => void;
  readonly spawn: (stdio: StdioOptions) => ChildProcess;
};

/**
 * Starts a process of its own for a run that waits. It outlives this one and the terminal. Throws a `WfError` `storage`
 * when the run has no directory any more.
 */
export function launchRun(runId: string, { openProcessLog, closeLog, spawn }: LaunchTools): Carrier {
  const log = openProcessLog(runId);
  try {
    const child = spawn(['ignore', log.fd, log.fd, 'pipe']);
    const ended = endOf(child);
    const owned = ownership(child, ended, { runId, path: log.path });
    // Both are for whoever wants to know; a daemon may look at one of them only.
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
  const report = await readReport(child);
  // Only now: without a report it is its end that tells, and this process has to be there for that.
  if (report !== null) child.unref();
  if (report?.owned === true) return;
  if (report !== null)
    throw new WfError(report.code, report.message, report.help === null ? {} : { help: report.help });
  const message = `the process that was to carry run ${runId} ended before it had begun: ${await ended}`;
  throw new CarrierDied('storage', message, { help: `what it said is in "${path}"` });
}

/** One line. Null when the pipe is closed without a word, or could not even be made. */
function readReport(child: ChildProcess): Promise<CarrierReport | null> {
  const pipe = child.stdio?.[reportFd] as Readable | null | undefined;
  if (!pipe || pipe.destroyed) return Promise.resolve(null);
  let text = '';
  return new Promise((resolve) => {
    pipe.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (!text.endsWith('\n')) return;
      resolve(JSON.parse(text) as CarrierReport);
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
