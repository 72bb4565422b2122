import { closeSync, fstatSync, readSync, statfsSync, writeSync } from 'node:fs';
import type { Attempt, AttemptLog } from '#executors/executor.ts';
import type { ProgramStream } from '#store/logs.ts';

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

/** Maximum size of an output without `maxOutputSize`, in bytes. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The value of an `output` variable, or why there is none. */
type OutputText = { readonly text: string } | { readonly problem: string };

/** Reads a step's standard output from an open file as a variable's value, without surrounding white space. */
export function readOutput(fd: number, name: string, maxBytes: number): OutputText {
  const { size } = fstatSync(fd);
  if (size > maxBytes) return tooLarge(name, size, maxBytes);
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, buffer, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return { text: buffer.toString('utf8', 0, length).trim() };
}

/** Standard output captured in memory, for a step whose log does not hold all of it. */
type GatheredOutput = {
  readonly add: (bytes: Uint8Array) => void;
  /** Same result as `readOutput`. */
  readonly text: (name: string) => OutputText;
};

/** Keeps at most the size of a variable. */
export function gatherOutput(maxBytes: number): GatheredOutput {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (bytes) => {
      size += bytes.length;
      if (size > maxBytes) chunks = [];
      else chunks.push(Buffer.from(bytes));
    },
    text: (name) =>
      size > maxBytes ? tooLarge(name, size, maxBytes) : { text: Buffer.concat(chunks).toString('utf8').trim() },
  };
}

function tooLarge(name: string, size: number, maxBytes: number): OutputText {
  return { problem: `output "${name}" has ${size} bytes; a variable can hold ${maxBytes}` };
}
