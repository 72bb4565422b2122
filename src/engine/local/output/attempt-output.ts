import { closeSync, statfsSync, writeSync } from 'node:fs';
import type { Attempt, AttemptLog } from '../../../executors/executor.ts';
import { type OutputText, readOutput } from './output.ts';

/** Where the output of one attempt goes, and how to get at it. */
export type AttemptOutput = {
  /** For processes: they write to its descriptors. */
  readonly log: AttemptLog;
  readonly write: Attempt['write'];
  /** To be called when the executor is done: what its process wrote is in the log when it returns. */
  readonly settle: () => void;
  /** The whole standard output as the value of a variable; after `settle`. */
  readonly text: (name: string) => OutputText;
  /** Gives the descriptors back. */
  readonly close: () => void;
};

/** Straight into the files: nothing of what a process prints comes through here. */
export function directOutput(log: AttemptLog): AttemptOutput {
  return {
    log,
    write: (stream, chunk) => writeAll(stream === 'stdout' ? log.stdoutFd : log.stderrFd, bytesOf(chunk)),
    settle: () => {},
    text: (name) => {
      if (!isDeviceFull(log.stdoutPath)) return readOutput(log.stdoutFd, name);
      return { problem: `output "${name}" may be cut short: no space is left on the device of "${log.stdoutPath}"` };
    },
    close: () => {
      closeSync(log.stdoutFd);
      closeSync(log.stderrFd);
    },
  };
}

/** A process that could not write its output need not say so, nor fail; and what it says has no room either. */
export function isDeviceFull(path: string): boolean {
  try {
    const { blocks, bfree, bavail } = statfsSync(path);
    return blocks > 0 && (process.getuid?.() === 0 ? bfree : bavail) === 0;
  } catch {
    // The log was removed: what it holds can still be read.
    return false;
  }
}

/** Writes all of it, however often the system takes only a part. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

/** UTF-8 for a text. */
export function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
