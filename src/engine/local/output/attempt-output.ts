import { closeSync, statfsSync, writeSync } from 'node:fs';
import type { Attempt, AttemptLog } from '#executors/executor.ts';
import type { ProgramStream } from '#store/logs.ts';
import { type OutputText, readOutput } from './output-text.ts';

/** The output of one attempt. */
export type AttemptOutput = {
  /** The log whose descriptors processes write to. */
  readonly log: AttemptLog;
  readonly write: Attempt['write'];
  /** The path of a file with this stream: of the stream alone if the step keeps it, else of its log. */
  readonly pathOf: (stream: ProgramStream) => string;
  /** Call when the executor is done: afterwards everything its process wrote is in the log. */
  readonly settle: () => Promise<void> | null;
  /** The whole output of a stream as the value of an output; only after `settle`. */
  readonly text: (name: string, stream: ProgramStream) => OutputText;
  /** Releases the descriptors. */
  readonly close: () => void;
};

/** Output written directly into the log files, without passing through this process. */
export function directOutput(log: AttemptLog, maxOutputBytes: number): AttemptOutput {
  return {
    log,
    pathOf: (stream) => (stream === 'stdout' ? log.stdoutPath : log.stderrPath),
    write: (stream, chunk) => writeAll(stream === 'stdout' ? log.stdoutFd : log.stderrFd, bytesOf(chunk)),
    settle: () => null,
    text: (name, stream) => {
      const fd = stream === 'stdout' ? log.stdoutFd : log.stderrFd;
      if (!isDeviceFull(log.stdoutPath)) return readOutput(fd, name, maxOutputBytes);
      return { problem: `output "${name}" may be cut short: no space is left on the device of "${log.stdoutPath}"` };
    },
    close: () => {
      closeSync(log.stdoutFd);
      if (log.stderrFd !== log.stdoutFd) closeSync(log.stderrFd);
    },
  };
}

/** A program whose output was lost to a full disk may neither fail nor be able to report it, so check the device. */
export function isDeviceFull(path: string): boolean {
  try {
    const { blocks, bfree, bavail } = statfsSync(path);
    return blocks > 0 && (process.getuid?.() === 0 ? bfree : bavail) === 0;
  } catch {
    // The log was removed; its content is still readable through the descriptor.
    return false;
  }
}

/** Writes all bytes, repeating partial writes. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

/** Encodes text as UTF-8. */
export function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
