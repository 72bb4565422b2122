import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Program } from './started-program.ts';
import { describeEnd, spawnDetached } from './subprocess.ts';

/** The descriptor of the pipe in a reporting process. */
export const REPORT_FD = 3;

/** A process that outlives this one, and reports one line through a pipe at `reportFd`. */
export type ReportingProcess = {
  /** The line, with its end; null if the process closed the pipe without one, or could not be started. */
  readonly report: Promise<string | null>;
  /** Resolves to its end in words, or to the reason why it could not be started. */
  readonly ended: Promise<string>;
  /** Lets this process exit before it. */
  readonly unref: () => void;
};

/** Starts a program as the leader of its own session, with its output appended to an open file. */
export function startReporting(program: Program, log: number): ReportingProcess {
  const child = spawnDetached(program, ['ignore', log, log, 'pipe']);
  return { report: readReport(child), ended: endOf(child), unref: () => child.unref() };
}

function readReport(child: ChildProcess): Promise<string | null> {
  const pipe = child.stdio?.[REPORT_FD] as Readable | null | undefined;
  // There are none if the system could not create the pipe.
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
    child.once('exit', (code, signal) => resolve(describeEnd({ code, signal })));
  });
}
