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
  #isReleased = false;
  #isPipeAtEnd = false;
  #hasLoggedMask = false;
  readonly #onEnd: () => void;

  constructor(options: MaskedStreamOptions, onEnd: () => void) {
    const { pipe, keep } = options;
    this.#options = options;
    this.#keep = keep;
    this.#onEnd = onEnd;
    this.#writeFd = pipe?.writeFd ?? null;
    this.#socket = pipe && readingSocket(pipe.readFd);
    this.#socket?.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#socket?.on('error', () => this.#endOfPipe());
    this.#socket?.on('end', () => this.#endOfPipe());
  }

  /** Writes a line of `wf` itself, after what processes have written so far. To be called before `close`. */
  write(bytes: Uint8Array): void {
    this.#readBacklog();
    this.#take(bytes);
  }

  /** Takes what was written so far, as the whole value of the stream. `write` still works. */
  settle(): void {
    this.#closeWriteEnd();
    if (this.#readBacklog()) this.#flush();
    this.#keep = null;
  }

  /** Ends the stream, unless a process that was left behind can still write: then its end is the end of the pipe. */
  close(): void {
    this.settle();
    this.#isReleased = true;
    if (this.#readBacklog()) this.end();
  }

  /** Takes what is left, and no more. */
  end(): void {
    if (!this.#isOpen) return;
    this.#readBacklog();
    this.#isOpen = false;
    this.#closeWriteEnd();
    this.#socket?.destroy();
    this.#flush();
    closeSync(this.#options.logFd);
    this.#onEnd();
  }

  #endOfPipe(): void {
    this.#isPipeAtEnd = true;
    if (this.#isReleased) this.end();
  }

  #closeWriteEnd(): void {
    if (this.#writeFd !== null) closeSync(this.#writeFd);
    this.#writeFd = null;
  }

  /** Logs what masking holds back, or the mask in the place of a stream that is withheld. */
  #flush(): void {
    this.#put(this.#options.masking.flush());
    if (!this.#options.isWithheld || !this.#hasWritten || this.#hasLoggedMask) return;
    this.#hasLoggedMask = true;
    this.#log(Buffer.from(`${mask}\n`));
  }

  /** Reads without waiting. True: no process can write any more. */
  #readBacklog(): boolean {
    const { pipe } = this.#options;
    // At its end the socket closes the descriptor.
    if (pipe === null || !this.#isOpen || this.#isPipeAtEnd) return true;
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
