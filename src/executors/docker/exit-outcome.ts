import type { Outcome } from '../../core/run/run.ts';

/** What the kernel did to a container; `limit` of its memory in bytes, 0 for none. */
export type MemoryEnd = { readonly isOutOfMemory: boolean; readonly limit: number };

/** The exit code of a program that SIGKILL ended. */
export const killedCode = 137;

/** The outcome of a program in a container by its exit code, told so that a person sees who ended it. */
export function exitOutcome(exitCode: number, memory: MemoryEnd): Outcome {
  if (exitCode === 0) return { status: 'succeeded', exitCode, outputs: {} };
  const message = `exit ${exitCode}${why(exitCode, memory)}`;
  return { status: 'failed', reason: 'exit', message, exitCode, signal: null, outputs: {} };
}

function why(exitCode: number, { isOutOfMemory, limit }: MemoryEnd): string {
  if (isOutOfMemory) return `: out of memory${limit > 0 ? ` (the limit is ${Math.round(limit / 1024 ** 2)} MiB)` : ''}`;
  return exitCode === killedCode ? ': killed (SIGKILL)' : '';
}
