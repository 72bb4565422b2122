import { closeSync, readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { MASK, type MaskStream, type Secrets } from '#core/secrets/secrets.ts';
import type { AttemptLog } from '#executors/executor.ts';
import type { OpenLogs, ProgramStream } from '#store/logs.ts';
import { errorCode } from '#system/errors.ts';
import { nextTurn } from '#system/turns.ts';
import { type AttemptOutput, bytesOf, gatherOutput, writeAll } from './attempt-output.ts';

/** Opens a named pipe in a directory. Rejects if that is impossible. */
export type OpenPipe = (directory: string) => Promise<Pipe>;

type MaskedOutputOptions = {
  /**
   * The streams that go through this process, each with the pipe that programs write to; null if there are no programs:
   * only `write` is used. Two streams with the same pipe are one, in exact order. The other streams are the log itself.
   */
  readonly pipes: ReadonlyMap<ProgramStream, Pipe | null>;
  /** The streams that are also captured as values. */
  readonly keeps: readonly ProgramStream[];
  /** A value is secret: the log contains nothing of either stream. */
  readonly isSecret: boolean;
  readonly maxOutputBytes: number;
  /** Called once per log file that can no longer be written. */
  readonly onFailure: (error: unknown) => void;
};

/** The outputs of one run that go through this process, where secrets are masked; some outlive their attempts. */
export class MaskedOutputs {
  readonly #secrets: Secrets;
  readonly #open = new Set<MaskedStream>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** Takes over the logs. */
  start({ log, kept }: OpenLogs, options: MaskedOutputOptions): AttemptOutput {
    const { pipes, keeps, isSecret, maxOutputBytes, onFailure } = options;
    const gathered = { stdout: gatherOutput(maxOutputBytes), stderr: gatherOutput(maxOutputBytes) };
    const isSame = pipes.get('stdout') === pipes.get('stderr') && log.stdoutFd === log.stderrFd;
    const isOne = pipes.size === 2 && isSame && keeps.length + Object.keys(kept).length === 0;
    const release = closing(log, isOne ? 1 : 2);
    // The secret value is known only at the end, and programs repeat what they print: `set -x`, `tee /dev/stderr`,
    // `curl -v`.
    const open = (stream: ProgramStream, fd: number): OutputStream => {
      const pipe = pipes.get(stream);
      if (pipe === undefined) return directStream(fd, release);
      const keep = keeps.includes(stream) ? gathered[stream].add : null;
      const copyFd = kept[stream]?.fd ?? null;
      return this.#stream({ pipe, logFd: fd, copyFd, keep, isWithheld: isSecret, onFailure, release });
    };
    const stdout = open('stdout', log.stdoutFd);
    const streams = { stdout, stderr: isOne ? stdout : open('stderr', log.stderrFd) };
    return {
      log: throughPipes(log, pipes),
      pathOf: (stream) => kept[stream]?.path ?? (stream === 'stdout' ? log.stdoutPath : log.stderrPath),
      write: (stream, chunk) => {
        streams[stream === 'stdout' ? 'stderr' : 'stdout'].catchUp();
        streams[stream].write(bytesOf(chunk));
      },
      settle: async () => {
        // The event loop reads the pipe first that had data first.
        if (!isOne) await nextTurn();
        streams.stdout.settle();
        streams.stderr.settle();
      },
      text: (name, stream) => gathered[stream].text(name),
      close: () => {
        streams.stdout.close();
        streams.stderr.close();
      },
    };
  }

  /** Ends what is still open, at the end of the run. */
  close(): void {
    for (const stream of [...this.#open]) stream.end();
  }

  #stream(options: Omit<ConstructorParameters<typeof MaskedStream>[0], 'masking'>): MaskedStream {
    const stream: MaskedStream = new MaskedStream({ ...options, masking: this.#secrets.stream() }, () => {
      this.#open.delete(stream);
    });
    this.#open.add(stream);
    return stream;
  }
}

/** A pipe: the write end of a program, by number and by name, and the read end of this process. */
export type Pipe = {
  readonly readFd: number;
  readonly writeFd: number;
  readonly path: string;
  readonly remove: () => void;
};

type OutputStream = Pick<MaskedStream, 'write' | 'catchUp' | 'settle' | 'close'>;

/** A stream that programs write directly into the log. */
function directStream(fd: number, release: () => void): OutputStream {
  return { write: (bytes) => writeAll(fd, bytes), catchUp: () => {}, settle: () => {}, close: release };
}

/** Closes the log when this many streams have ended. */
function closing({ stdoutFd, stderrFd }: AttemptLog, streams: number): () => void {
  let open = streams;
  return () => {
    open -= 1;
    if (open > 0) return;
    closeSync(stdoutFd);
    if (stderrFd !== stdoutFd) closeSync(stderrFd);
  };
}

/** The log as programs see it. */
function throughPipes(log: AttemptLog, pipes: MaskedOutputOptions['pipes']): AttemptLog {
  const [stdout, stderr] = [pipes.get('stdout') ?? null, pipes.get('stderr') ?? null];
  if (stdout === null && stderr === null) return log;
  return {
    ...log,
    isDirect: false,
    files: { stdoutPath: stdout?.path ?? log.stdoutPath, stderrPath: stderr?.path ?? log.stderrPath },
    stdoutFd: stdout?.writeFd ?? log.stdoutFd,
    stderrFd: stderr?.writeFd ?? log.stderrFd,
  };
}

type MaskedStreamOptions = {
  /** Descriptor of the log. */
  readonly logFd: number;
  /** Descriptor of the file that holds this stream alone, which it closes; null: there is none. */
  readonly copyFd: number | null;
  /** Called at the end of the stream. */
  readonly release: () => void;
  /** The pipe that processes write to; null if there are none. */
  readonly pipe: Pipe | null;
  readonly masking: MaskStream;
  /** Nothing of the stream may be shown; the log gets a single mask. */
  readonly isWithheld: boolean;
  /** Receives the unmasked bytes until the attempt settles. */
  readonly keep: ((bytes: Uint8Array) => void) | null;
  /** Called once if the log can no longer be written. */
  readonly onFailure: (error: unknown) => void;
};

const BUFFER_BYTES = 64 * 1024;
/** Capacity of the largest pipe: bytes that a process wrote before it ended are within this many. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

/** Loads `node:net` on demand: most runs have no secrets. */
function readingSocket(fd: number): Socket {
  const { Socket } = process.getBuiltinModule('node:net');
  return new Socket({ fd, readable: true, writable: false });
}

/**
 * One stream of an attempt: read from a pipe, masked, written to the log. It outlives the attempt while a leftover
 * process holds the pipe open, and ends with the run at the latest.
 */
class MaskedStream {
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

  /** Takes what processes have written so far. */
  catchUp(): void {
    this.#readBacklog();
  }

  /** Writes a line of `wf` itself after everything that processes have written so far. Call it before `close`. */
  write(bytes: Uint8Array): void {
    this.#readBacklog();
    this.#take(bytes);
  }

  /** Captures everything written so far as the stream's whole value. `write` still works. */
  settle(): void {
    this.#closeWriteEnd();
    if (this.#readBacklog()) this.#flush();
    this.#keep = null;
  }

  /** Ends the stream, or lets it end with the pipe if a leftover process can still write. */
  close(): void {
    this.settle();
    this.#isReleased = true;
    if (this.#readBacklog()) this.end();
  }

  /** Reads the rest, then closes. */
  end(): void {
    if (!this.#isOpen) return;
    this.#readBacklog();
    this.#isOpen = false;
    this.#closeWriteEnd();
    this.#socket?.destroy();
    this.#flush();
    const { copyFd, release } = this.#options;
    if (copyFd !== null) closeSync(copyFd);
    release();
    this.#onEnd();
  }

  #endOfPipe(): void {
    this.#isPipeAtEnd = true;
    if (this.#isReleased) this.end();
  }

  #closeWriteEnd(): void {
    if (this.#writeFd === null) return;
    closeSync(this.#writeFd);
    this.#writeFd = null;
    this.#options.pipe?.remove();
  }

  /** Writes what masking holds back, or the mask of a withheld stream. */
  #flush(): void {
    this.#put(this.#options.masking.flush());
    if (!this.#options.isWithheld || !this.#hasWritten || this.#hasLoggedMask) return;
    this.#hasLoggedMask = true;
    this.#log(Buffer.from(`${MASK}\n`));
  }

  /** Reads without blocking. Returns true if no process can write any more. */
  #readBacklog(): boolean {
    const { pipe } = this.#options;
    // The socket closes the descriptor at its end.
    if (pipe === null || !this.#isOpen || this.#isPipeAtEnd) return true;
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    for (let taken = 0; taken < MAX_BACKLOG_BYTES; ) {
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
    const { logFd, copyFd } = this.#options;
    try {
      writeAll(logFd, bytes);
      if (copyFd !== null) writeAll(copyFd, bytes);
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onFailure(error);
    }
  }
}

/** Returns null if there is nothing to read yet but a process may still write. */
function readNow(fd: number, buffer: Uint8Array): number | null {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return null;
    throw error;
  }
}
