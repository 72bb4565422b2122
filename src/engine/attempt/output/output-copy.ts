import { closeSync, constants, existsSync, mkdirSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { EndSignal } from '#processes/end-signal.ts';
import { errorCode, messageOf } from '#system/errors.ts';

const POLL_INTERVAL_MS = 100;
const CHUNK_BYTES = 64 * 1024;

/** Non-blocking: opening a named pipe without a reader, or writing to a full one, would block this process. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * Copies a step's output to the file named by `stdout` or `stderr` while the step writes. The step writes to the stored
 * log, so it neither waits for the copy nor dies with it. A named pipe's reader may come late and be slow.
 */
export class OutputCopy {
  /** The file cannot be opened; the message is shown to the user. */
  static readonly Problem = class OutputCopyProblem extends Error {};

  readonly #from: number;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  /** Null for a named pipe without a reader. */
  #to: number | null = null;
  /** The part of the chunk that is read but not yet written. */
  #rest = { start: 0, end: 0 };
  #problem: string | null = null;

  /** Throws an `OutputCopy.Problem` if the file cannot be opened. */
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
    this.#timer = setInterval(() => this.#copy(), POLL_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Copies the rest and closes; waits for the reader of a pipe until `signal`. Resolves to the problem, or null. */
  async end(signal: EndSignal): Promise<string | null> {
    clearInterval(this.#timer);
    while (!this.#copy() && !signal.aborted) await afterInterval(signal);
    if (this.#problem === null && !this.#copy())
      this.#problem = `cannot write "${this.#path}": its reader does not read it`;
    closeSync(this.#from);
    if (this.#to !== null) closeSync(this.#to);
    return this.#problem;
  }

  /** Returns false while the file cannot take everything yet. */
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
      if (errorCode(error) === 'EAGAIN') return false;
      this.#problem = problemWith(this.#path, error);
    }
    return true;
  }
}

/** Returns null for a named pipe without a reader. */
function openForAppending(path: string): number | null {
  try {
    return openSync(path, appending);
  } catch (error) {
    if (errorCode(error) === 'ENXIO' && statSync(path).isFIFO()) return null;
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
    const timer = setTimeout(goOn, POLL_INTERVAL_MS);
    const forget = signal.onAbort(goOn);
  });
}

/** Creates missing parents too. Not `recursive`, which never returns below /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!existsSync(path)) throw error;
  }
}

function problemWith(path: string, error: unknown): string {
  const text = messageOf(error);
  // Drop the parts Node adds for programmers: `EISDIR: illegal operation on a directory, open '/tmp'`.
  return `cannot write "${path}": ${text.replace(/^[A-Z]+: /, '').replace(/, \w+(?: '.*')?$/, '')}`;
}
