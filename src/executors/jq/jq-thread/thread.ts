import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** What a thread of jq is started with. */
export type JqJob = {
  /** As for the program `jq`, the filter at the end. */
  readonly args: readonly string[];
  readonly input: string;
  /** What `$ENV` is. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdoutFd: number;
  readonly stderrFd: number;
};

/** How jq ended: with an exit code and the first and last line about an error (empty: none), or not by itself. */
export type JqEnd =
  | { readonly code: number; readonly firstError: string; readonly lastError: string }
  | { readonly problem: string };

/** A running jq; `end` ends it wherever it is, and then `ended` tells of a problem. */
export type JqThread = { readonly ended: Promise<JqEnd>; readonly end: () => void };

/**
 * Runs jq in a thread of its own, where it can be ended in the middle of a loop and reaches nothing but the two open files,
 * to which it writes by itself. `directory` is where `worker.cjs` lies.
 */
export function startJq(job: JqJob, directory: string): JqThread {
  const worker = new Worker(join(directory, 'worker.cjs'), { workerData: job, env: {}, execArgv: [], argv: [] });
  let last: JqEnd = { problem: 'it was ended' };
  worker.on('message', (end: JqEnd) => {
    last = end;
  });
  worker.on('error', (error) => {
    last = { problem: error instanceof Error ? error.message : String(error) };
  });
  const ended = new Promise<JqEnd>((resolve) => worker.once('exit', () => resolve(last)));
  return { ended, end: () => void worker.terminate() };
}
