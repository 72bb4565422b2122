import type { Writable } from 'node:stream';
import type { Clock } from '../../engine/clock.ts';

/** A client to whom something is written as it comes. */
export type StreamWriter = {
  /** Bytes are copied. */
  readonly write: (chunk: string | Uint8Array) => void;
  /** So much is on its way that nothing new should come. */
  readonly isBehind: () => boolean;
  /** Resolves when it is all on its way, or nobody reads any more. */
  readonly caughtUp: () => Promise<void>;
  readonly isClosed: () => boolean;
};

const mostPendingBytes = 256 * 1024;
/** Who takes nothing for so long is gone, or holds the connection for no good. */
const stuckMs = 60_000;

/** Writes to a client; `signal` is aborted when it has gone. A client that is stuck is cut off. */
export function createStreamWriter(output: Writable, signal: AbortSignal, clock: Clock): StreamWriter {
  const isClosed = () => signal.aborted || output.destroyed;
  return {
    write: (chunk) => {
      if (!isClosed()) output.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk));
    },
    isBehind: () => output.writableLength > mostPendingBytes,
    isClosed,
    caughtUp: async () => {
      if (isClosed() || !output.writableNeedDrain) return;
      const cancelTimer = clock.setTimer(clock.now() + stuckMs, () => output.destroy());
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
