import { closeSync, readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type MaskStream, mask } from '../../../core/secrets/mask-stream.ts';
import type { Pipe } from '../../../processes/named-pipes.ts';
import { writeAll } from './attempt-output.ts';

export type MaskedStreamOptions = {
  /** The log; closed at the end of the stream. */
  readonly logFd: number;
  /** What processes write to; null where there are none. */
  readonly pipe: Pipe | null;
  readonly masking: MaskStream;
  /** Nothing of it may be shown: then the log says so instead. */
  readonly isWithheld: boolean;
  /** Gets what is written, with its secrets, until the attempt is settled. */
  readonly keep: ((bytes: Uint8Array) => void) | null;
  /** The log cannot be written any more; told once. */
  readonly onFailure: (error: unknown) => void;
};

const bufferBytes = 64 * 1024;
/** The most that a pipe can hold: what a process wrote before its end is not further back. */
const longestBacklog = 1024 * 1024;

/** What it takes is loaded here: most runs have no secrets. */
function readingSocket(fd: number): Socket {
  const { Socket } = process.getBuiltinModule('node:net');
  return new Socket({ fd, readable: true, writable: false });
}

/**
 * One stream of an attempt on its way to the log: read from a pipe, masked, then written. It outlives the attempt while a
 * process that was left behind has the pipe open, and ends with the run at the latest.
 */
export class MaskedStream {
  readonly #options: MaskedStreamOptions;
  readonly #socket: Socket | null;
  #keep: ((bytes: Uint8Array) => void) | null;
  #hasWritten = false;
  #hasFailed = false;
  #writeFd: number | null;
  #isOpen = true;
  readonly #onEnd: () => void;

  constructor(options: MaskedStreamOptions, onEnd: () => void) {
    const { pipe, keep } = options;
    this.#options = options;
    this.#keep = keep;
    this.#onEnd = onEnd;
    this.#writeFd = pipe?.writeFd ?? null;
    this.#socket = pipe && readingSocket(pipe.readFd);
    this.#socket?.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#socket?.on('error', () => this.end());
    this.#socket?.on('end', () => this.end());
  }

  /** Written by ourselves, behind what processes have written so far. */
  write(bytes: Uint8Array): void {
    this.#readBacklog();
    this.#take(bytes);
  }

  /** Takes what was written so far. It is the end of the stream unless somebody else can still write. */
  settle(): void {
    if (this.#writeFd !== null) closeSync(this.#writeFd);
    this.#writeFd = null;
    if (this.#readBacklog()) this.end();
    this.#keep = null;
  }

  /** Takes what is left, and no more. */
  end(): void {
    if (!this.#isOpen) return;
    this.#readBacklog();
    this.#isOpen = false;
    if (this.#writeFd !== null) closeSync(this.#writeFd);
    this.#socket?.destroy();
    this.#put(this.#options.masking.flush());
    if (this.#options.isWithheld && this.#hasWritten) this.#log(Buffer.from(`${mask}\n`));
    closeSync(this.#options.logFd);
    this.#onEnd();
  }

  /** Reads without waiting. True: nobody can write any more. */
  #readBacklog(): boolean {
    const { pipe } = this.#options;
    if (pipe === null || !this.#isOpen) return true;
    const buffer = Buffer.allocUnsafe(bufferBytes);
    for (let taken = 0; taken < longestBacklog; ) {
      const read = readNow(pipe.readFd, buffer);
      if (read === null) return false;
      if (read === 0) return true;
      this.#take(buffer.subarray(0, read));
      taken += read;
    }
    return false;
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0 || !this.#isOpen) return;
    this.#hasWritten = true;
    this.#keep?.(bytes);
    this.#put(this.#options.masking.push(bytes));
  }

  #put(bytes: Uint8Array): void {
    if (!this.#options.isWithheld) this.#log(bytes);
  }

  #log(bytes: Uint8Array): void {
    if (this.#hasFailed) return;
    try {
      writeAll(this.#options.logFd, bytes);
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onFailure(error);
    }
  }
}

/** Null: nothing is there now, but somebody may still write. */
function readNow(fd: number, buffer: Uint8Array): number | null {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
    throw error;
  }
}
