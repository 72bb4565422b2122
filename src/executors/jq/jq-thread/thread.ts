import { join } from 'node:path';
import { startThread } from '#processes/start-thread.ts';
import { messageOf } from '#system/errors.ts';

/** Input of a jq thread. */
export type JqJob = {
  /** As for the program `jq`, with the filter last. */
  readonly args: readonly string[];
  readonly input: string;
  /** The value of `$ENV`. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdoutFd: number;
  readonly stderrFd: number;
};

/** How jq ended: with an exit code and the first and last error line (empty: none), or with a problem of the thread. */
export type JqEnd =
  | { readonly code: number; readonly firstError: string; readonly lastError: string }
  | { readonly problem: string };

/** A running jq; `end` stops it wherever it is, and `ended` then resolves to a problem. */
export type JqThread = { readonly ended: Promise<JqEnd>; readonly end: () => void };

/**
 * Runs jq in a thread, which can be ended in the middle of a loop and reaches nothing but the two open files it writes
 * to. `directory` contains `worker.cjs`.
 */
export function startJq(job: JqJob, directory: string): JqThread {
  const worker = startThread(join(directory, 'worker.cjs'), { workerData: job, env: {}, execArgv: [], argv: [] });
  let last: JqEnd = { problem: 'it was ended' };
  worker.on('message', (end: JqEnd) => {
    last = end;
  });
  worker.on('error', (error) => {
    last = { problem: messageOf(error) };
  });
  const ended = new Promise<JqEnd>((resolve) => worker.once('exit', () => resolve(last)));
  return { ended, end: () => void worker.terminate() };
}
