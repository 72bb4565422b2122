import { fstatSync, readSync } from 'node:fs';

/** The most that an `output` variable may hold, in bytes. */
const largestOutput = 1024 * 1024;

/** The text of an `output` variable, or why there is none. */
export type OutputText = { readonly text: string } | { readonly problem: string };

/** Reads a step's standard output, in an open file, as the value of a variable: without the white space around it. */
export function readOutput(fd: number, name: string): OutputText {
  const { size } = fstatSync(fd);
  if (size > largestOutput) return tooLarge(name, size);
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, buffer, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return { text: buffer.toString('utf8', 0, length).trim() };
}

/** Standard output that is gathered while it comes, for a step whose log does not hold all of it. */
export type GatheredOutput = {
  readonly add: (bytes: Uint8Array) => void;
  /** As `readOutput` gives it. */
  readonly text: (name: string) => OutputText;
};

/** Holds at most what a variable can. */
export function gatherOutput(): GatheredOutput {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (bytes) => {
      size += bytes.length;
      if (size > largestOutput) chunks = [];
      else chunks.push(Buffer.from(bytes));
    },
    text: (name) =>
      size > largestOutput ? tooLarge(name, size) : { text: Buffer.concat(chunks).toString('utf8').trim() },
  };
}

function tooLarge(name: string, size: number): OutputText {
  return { problem: `output "${name}" has ${size} bytes; a variable can hold ${largestOutput}` };
}
