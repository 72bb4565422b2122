import type { Clock } from '../../engine/clock.ts';
import type { StreamWriter } from './stream-writer.ts';

/** A comment is sent this often, so that no proxy takes the connection for dead. */
const heartbeatMs = 15_000;
/** A client that has lost the connection comes back after this time. */
const comeBackMs = 1000;

/** The headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
} as const;

/** The first line of a stream. */
export const comeBackLine = `retry: ${comeBackMs}\n\n`;

/** One event; its data is JSON, which has no line end. */
export function eventFrame({
  id,
  event,
  data,
}: {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}) {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Keeps a connection alive until the result is called; sends nothing to a client that does not take what is there. */
export function beat(writer: StreamWriter, clock: Clock): () => void {
  let cancelTimer = () => {};
  const next = () => {
    cancelTimer = clock.setTimer(clock.now() + heartbeatMs, () => {
      if (!writer.isBehind()) writer.write(': still here\n\n');
      next();
    });
  };
  next();
  return () => cancelTimer();
}
