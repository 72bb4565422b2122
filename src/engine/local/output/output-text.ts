import { fstatSync, readSync } from 'node:fs';

/** Largest value of an `output` variable, in bytes. */
const maxOutputBytes = 1024 * 1024;

/** The value of an `output` variable, or why there is none. */
export type OutputText = { readonly text: string } | { readonly problem: string };

/** Reads a step's standard output from an open file as a variable's value, without surrounding white space. */
export function readOutput(fd: number, name: string): OutputText {
  const { size } = fstatSync(fd);
  if (size > maxOutputBytes) return tooLarge(name, size);
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
export function gatherOutput(): GatheredOutput {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (bytes) => {
      size += bytes.length;
      if (size > maxOutputBytes) chunks = [];
      else chunks.push(Buffer.from(bytes));
    },
    text: (name) =>
      size > maxOutputBytes ? tooLarge(name, size) : { text: Buffer.concat(chunks).toString('utf8').trim() },
  };
}

function tooLarge(name: string, size: number): OutputText {
  return { problem: `output "${name}" has ${size} bytes; a variable can hold ${maxOutputBytes}` };
}
