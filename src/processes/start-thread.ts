import { Worker, type WorkerOptions } from 'node:worker_threads';
import { startFileThreads } from './subprocess.ts';

/** Starts a thread. Throws an error that `systemProblem` knows where the limit of processes, which counts threads, is reached. */
export function startThread(file: string, options: WorkerOptions): Worker {
  startFileThreads();
  try {
    return new Worker(file, options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_WORKER_INIT_FAILED' || !message.includes('EAGAIN')) throw error;
    throw Object.assign(new Error(message, { cause: error }), { code: 'EAGAIN', syscall: 'spawn a thread' });
  }
}
