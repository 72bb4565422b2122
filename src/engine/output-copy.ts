import { closeSync, existsSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const pollIntervalMs = 100;
const chunkBytes = 64 * 1024;

/**
 * Copies what a step writes into the file its `stdout` or `stderr` names, while it writes. The step itself writes to
 * the stored log, so that it neither waits for the copy nor dies with it.
 */
export class OutputCopy {
  /** The file cannot be opened; the message is for the user. */
  static readonly Problem = class OutputCopyProblem extends Error {};

  readonly #from: number;
  readonly #to: number;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  #problem: string | null = null;

  /** Throws an `OutputCopy.Problem` when the file cannot be opened. */
  constructor(logPath: string, path: string) {
    this.#path = path;
    try {
      makeDirectory(dirname(path));
      this.#to = openSync(path, 'a');
    } catch (error) {
      throw new OutputCopy.Problem(problemWith(path, error));
    }
    this.#from = openSync(logPath, 'r');
    this.#timer = setInterval(() => this.#copy(), pollIntervalMs);
    this.#timer.unref();
  }

  /** Copies the rest and closes. Returns what went wrong on the way, or null. */
  end(): string | null {
    clearInterval(this.#timer);
    this.#copy();
    closeSync(this.#from);
    closeSync(this.#to);
    return this.#problem;
  }

  #copy(): void {
    if (this.#problem !== null) return;
    const chunk = Buffer.allocUnsafe(chunkBytes);
    try {
      for (let read = readSync(this.#from, chunk); read > 0; read = readSync(this.#from, chunk)) {
        for (let written = 0; written < read; ) written += writeSync(this.#to, chunk, written, read - written);
      }
    } catch (error) {
      this.#problem = problemWith(this.#path, error);
    }
  }
}

/** With those above it. Not `recursive`, which never ends where a directory takes no other, as those of /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

function problemWith(path: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // Without what Node adds for programmers: `EISDIR: illegal operation on a directory, open '/tmp'`.
  return `cannot write "${path}": ${text.replace(/^[A-Z]+: /, '').replace(/, \w+(?: '.*')?$/, '')}`;
}
