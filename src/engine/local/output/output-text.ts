import { fstatSync, readSync } from 'node:fs';

/** Maximum size of an output without `maxOutputSize`, in bytes. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The value of an `output` variable, or why there is none. */
export type OutputText = { readonly text: string } | { readonly problem: string };

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
export type GatheredOutput = {
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
