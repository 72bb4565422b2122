import { write } from 'node:fs';

/** A stream of the process that is written in order. */
export type Output = {
  readonly write: (text: string | Uint8Array) => void;
  /** The bytes that are not written yet. */
  readonly pending: () => number;
  /** Resolves when everything is written or cannot be written. */
  readonly drained: () => Promise<void>;
  /** Whether writing has ended because the reader has gone or the disk is full. */
  readonly isClosed: () => boolean;
  /** Whether output was lost, for example on a full disk. */
  readonly hasFailed: () => boolean;
};

/** The interval between attempts to write to a reader that is not ready. */
const retryMs = 5;

/**
 * Writes to a descriptor in the background, so that a slow or stopped reader delays only its own output; writers of large
 * output check `pending` first. If the reader goes, writing ends silently; any other failure (a full disk) is reported once to
 * `onFailure`.
 */
export function createOutput(fd: number, onFailure: (error: Error) => void): Output {
  let waiting: Buffer[] = [];
  let pendingBytes = 0;
  let isWriting = false;
  let isClosed = false;
  let hasFailed = false;
  let whenDrained: (() => void)[] = [];

  const settle = () => {
    isWriting = false;
    for (const resolve of whenDrained) resolve();
    whenDrained = [];
  };
  const close = (error: NodeJS.ErrnoException) => {
    isClosed = true;
    waiting = [];
    pendingBytes = 0;
    hasFailed = error.code !== 'EPIPE' && error.code !== 'EBADF';
    if (hasFailed) onFailure(error);
    settle();
  };
  const next = () => {
    if (waiting.length === 0) return settle();
    const bytes = waiting.length === 1 && waiting[0] ? waiting[0] : Buffer.concat(waiting);
    waiting = [];
    writeFrom(bytes, 0);
  };
  const writeFrom = (bytes: Buffer, from: number) => {
    write(fd, bytes, from, bytes.length - from, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(writeFrom, retryMs, bytes, from);
      if (error) return close(error);
      pendingBytes -= written;
      if (from + written < bytes.length) writeFrom(bytes, from + written);
      else next();
    });
  };

  return {
    write: (text) => {
      if (isClosed || text.length === 0) return;
      const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text);
      waiting.push(bytes);
      pendingBytes += bytes.length;
      if (isWriting) return;
      isWriting = true;
      // Not `queueMicrotask`, which sets up asynchronous resources.
      void Promise.resolve().then(next);
    },
    pending: () => pendingBytes,
    isClosed: () => isClosed,
    hasFailed: () => hasFailed,
    drained: () => (isWriting ? new Promise((resolve) => whenDrained.push(resolve)) : Promise.resolve()),
  };
}
