import { closeSync, constants, existsSync, mkdirSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { EndSignal } from '../../../processes/end-signal.ts';

const pollIntervalMs = 100;
const chunkBytes = 64 * 1024;

/** Never waits: to open a named pipe that nothing reads would block this process, and so would a write to a full one. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * Copies what a step writes into the file its `stdout` or `stderr` names, while it writes. The step itself writes to
 * the stored log, so that it neither waits for the copy nor dies with it. Where the file is a named pipe, its reader may come
 * late and be slow.
 */
export class OutputCopy {
  /** The file cannot be opened; the message is for the user. */
  static readonly Problem = class OutputCopyProblem extends Error {};

  readonly #from: number;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  readonly #chunk = Buffer.allocUnsafe(chunkBytes);
  /** Null for a named pipe that nothing reads yet. */
  #to: number | null = null;
  /** The part of the chunk that is read and not yet written. */
  #rest = { start: 0, end: 0 };
  #problem: string | null = null;

  /** Throws an `OutputCopy.Problem` when the file cannot be opened. */
  constructor(logPath: string, path: string) {
    this.#path = path;
    try {
      makeDirectory(dirname(path));
      this.#to = openForAppending(path);
      this.#from = openSync(logPath, 'r');
    } catch (error) {
      if (this.#to !== null) closeSync(this.#to);
      throw new OutputCopy.Problem(problemWith(path, error));
    }
    this.#timer = setInterval(() => this.#copy(), pollIntervalMs);
    this.#timer.unref();
  }

  /** Copies the rest and closes; the reader of a pipe is waited for until `signal`. Resolves to what went wrong, or null. */
  async end(signal: EndSignal): Promise<string | null> {
    clearInterval(this.#timer);
    while (!this.#copy() && !signal.aborted) await afterInterval(signal);
    if (this.#problem === null && !this.#copy())
      this.#problem = `cannot write "${this.#path}": its reader does not take it`;
    closeSync(this.#from);
    if (this.#to !== null) closeSync(this.#to);
    return this.#problem;
  }

  /** False while there is something that the file cannot take yet. */
  #copy(): boolean {
    if (this.#problem !== null) return true;
    try {
      this.#to ??= openForAppending(this.#path);
      if (this.#to === null) return false;
      do {
        for (const rest = this.#rest; rest.start < rest.end; ) {
          rest.start += writeSync(this.#to, this.#chunk, rest.start, rest.end - rest.start);
        }
        this.#rest = { start: 0, end: readSync(this.#from, this.#chunk) };
      } while (this.#rest.end > 0);
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return false;
      this.#problem = problemWith(this.#path, error);
    }
    return true;
  }
}

/** Null for a named pipe that nothing reads yet. */
function openForAppending(path: string): number | null {
  try {
    return openSync(path, appending);
  } catch (error) {
    if (codeOf(error) === 'ENXIO' && statSync(path).isFIFO()) return null;
    throw error;
  }
}

function afterInterval(signal: EndSignal): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(goOn, pollIntervalMs);
    const forget = signal.onAbort(goOn);
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
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
