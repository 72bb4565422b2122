import type { Writable } from 'node:stream';
import type { Clock } from '#system/clock.ts';
import type { Reply } from '../route.ts';

/** The interval of heartbeats, which keep proxies from closing the connection. */
const HEARTBEAT_MS = 15_000;
/** The time after which a disconnected client reconnects. */
const COME_BACK_MS = 1000;

/** The headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
} as const;

/** The first line of a stream. */
export const comeBackLine = `retry: ${COME_BACK_MS}\n\n`;

/** Formats one event; its data is JSON, which contains no line end. */
export function eventFrame({ id, event, data }: { id?: string; event: string; data: string }): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Sends heartbeats, by default comments, to a client that reads, until the returned function is called. */
export function beat(writer: StreamWriter, clock: Clock, frame: () => string = () => ': still here\n\n'): () => void {
  let cancelTimer = () => {};
  const next = () => {
    cancelTimer = clock.setTimer(clock.now() + HEARTBEAT_MS, () => {
      if (!writer.isBehind()) writer.write(frame());
      next();
    });
  };
  next();
  return () => cancelTimer();
}

/** Writes a stream to a client. */
export type StreamWriter = {
  /** Writes a chunk; bytes are copied. */
  readonly write: (chunk: string | Uint8Array) => void;
  /** Whether the buffer is full, so that no more chunks should be written. */
  readonly isBehind: () => boolean;
  /** Resolves when the buffer is empty, or the client has disconnected. */
  readonly caughtUp: () => Promise<void>;
  readonly isClosed: () => boolean;
};

const MOST_PENDING_BYTES = 256 * 1024;
/** The time after which a client that reads nothing is disconnected. */
const STUCK_MS = 60_000;

/** Creates the reply of a stream that `send` writes; a quiet one may be silent for longer than a connection may be idle. */
export function streamReply(
  headers: Readonly<Record<string, string>>,
  { clock, isQuiet = false }: { readonly clock: Clock; readonly isQuiet?: boolean },
  send: (writer: StreamWriter, signal: AbortSignal) => Promise<void>,
): Reply {
  const stream = (output: Writable, signal: AbortSignal) => send(createStreamWriter(output, signal, clock), signal);
  return { status: 200, headers, isQuiet, stream };
}

/** Creates a writer; `signal` is aborted when the client has disconnected. A client that does not read is disconnected. */
export function createStreamWriter(output: Writable, signal: AbortSignal, clock: Clock): StreamWriter {
  const isClosed = () => signal.aborted || output.destroyed;
  return {
    write: (chunk) => {
      if (!isClosed()) output.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk));
    },
    isBehind: () => output.writableLength > MOST_PENDING_BYTES,
    isClosed,
    caughtUp: async () => {
      if (isClosed() || !output.writableNeedDrain) return;
      const cancelTimer = clock.setTimer(clock.now() + STUCK_MS, () => output.destroy());
      await ended(output, signal);
      cancelTimer();
    },
  };
}

function ended(output: Writable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      output.off('drain', done);
      output.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    output.once('drain', done);
    output.once('close', done);
    signal.addEventListener('abort', done);
  });
}
