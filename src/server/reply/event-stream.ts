import type { Clock } from '#system/clock.ts';
import type { StreamWriter } from './stream-writer.ts';

/** The interval of heartbeats, which keep proxies from closing the connection. */
const heartbeatMs = 15_000;
/** The time after which a disconnected client reconnects. */
const comeBackMs = 1000;

/** The headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
} as const;

/** The first line of a stream. */
export const comeBackLine = `retry: ${comeBackMs}\n\n`;

/** Formats one event; its data is JSON, which contains no line end. */
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

/**
 * Sends heartbeats until the returned function is called, except to a client that does not read. `frame` creates one;
 * default: a comment, which clients ignore.
 */
export function beat(writer: StreamWriter, clock: Clock, frame: () => string = () => ': still here\n\n'): () => void {
  let cancelTimer = () => {};
  const next = () => {
    cancelTimer = clock.setTimer(clock.now() + heartbeatMs, () => {
      if (!writer.isBehind()) writer.write(frame());
      next();
    });
  };
  next();
  return () => cancelTimer();
}
