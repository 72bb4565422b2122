import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openFilesLimit } from '#system/descriptors.ts';

/** The limits of `wf serve`, for one client or all clients together. Times are in milliseconds. */
export const defaultLimits = {
  bodyBytes: 1024 * 1024,
  /** The bytes of a too large body that are read and discarded, so that the client reads the error response. */
  discardedBytes: 4 * 1024 * 1024,
  /** The size of the request line and all header lines. */
  headerBytes: 16 * 1024,
  headerCount: 100,
  headersMs: 10_000,
  /** The time from the first byte of a request to the last byte of its body. */
  requestMs: 30_000,
  keepAliveMs: 10_000,
  /** The time without a byte in either direction; streams send heartbeats more often. */
  idleMs: 120_000,
  /** The interval of checking connections for the times above. */
  checkMs: 2000,
  /** The maximum number of connections; lower if the process may not open that many files. */
  connections: 16_000,
  /** The maximum number of connections that receive an error response; others are closed without one. */
  refusedConnections: 200,
  /** The time for running requests when the server closes. */
  closeMs: 2000,
};

/** The limits of a server. */
export type Limits = Readonly<typeof defaultLimits>;

/** The files reserved for journals, processes being started, and watched directories. */
const RESERVED = 1000;

/** Returns the number of connections that leaves room for other open files; unlimited if the system's limit is unknown. */
export function connectionsThatFit(): number {
  const limit = openFilesLimit();
  return Math.max(Math.floor(limit / 2), limit - RESERVED);
}

const PATIENCE_MS = 1000;

/**
 * Limits the number of connections: surplus connections get an error response unread, and beyond a second limit they are
 * closed. Node's own limit only closes, which looks like a crash to clients. `isPlain`: without TLS; only then is a
 * response sent.
 */
export function limitConnections(server: Server, limits: Limits, isPlain: boolean): void {
  const accept = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  let accepted = 0;
  let refused = 0;
  server.on('connection', (socket: Socket) => {
    if (accepted < limits.connections) {
      accepted += 1;
      socket.once('close', () => {
        accepted -= 1;
      });
      for (const listener of accept) listener.call(server, socket);
      return;
    }
    socket.on('error', () => socket.destroy());
    if (!isPlain || refused >= limits.refusedConnections) return void socket.destroy();
    refused += 1;
    const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.once('close', () => {
      refused -= 1;
      clearTimeout(timer);
    });
    // Discard the input: unread bytes would make the system reset the connection before the client reads the response.
    socket.resume();
    socket.end(rawReply(503, 'too many connections', { 'Retry-After': '1' }));
  });
}

/** Returns the raw bytes of a response on a connection without a valid request; the connection is then closed. */
export function rawReply(status: number, message: string, headers: Readonly<Record<string, string>> = {}): string {
  const body = `${JSON.stringify({ code: status, message, detailedMessage: message })}\n`;
  const all = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Returns a function that calls `refuse` for a socket whose request took too long, unless the rest of the request is in the
 * buffers of the system. After the event loop was blocked, or the machine slept, Node checks the times of requests before
 * it reads them, and would refuse complete ones.
 */
export function slowRequests(server: Server | TlsServer): (socket: Socket, refuse: () => void) => void {
  const requests = new WeakMap<Socket, IncomingMessage>();
  for (const event of ['request', 'checkContinue'] as const)
    server.prependListener(event, (request: IncomingMessage) => requests.set(request.socket, request));
  return (socket, refuse) => {
    const before = requests.get(socket);
    const wasComplete = before?.complete === true;
    // The loop reads all sockets before it calls this.
    setImmediate(() => {
      const request = requests.get(socket);
      const isNew = request !== before || !wasComplete;
      if (!(isNew && request?.complete === true) && socket.writable) refuse();
    });
  };
}

/** The delay of the event loop, in milliseconds, over the last seconds. */
export type LoopLag = { readonly mean: number; readonly p99: number; readonly max: number };

const RESOLUTION_MS = 50;
const WINDOW_MS = 10_000;

/** Watches the event loop until it is closed. */
export function watchLoopLag(now: () => number): { readonly read: () => LoopLag; readonly close: () => void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let since = now();
  return {
    read: () => {
      const lag = {
        mean: beyondResolution(delays.mean),
        p99: beyondResolution(delays.percentile(99)),
        max: beyondResolution(delays.max),
      };
      if (now() - since >= WINDOW_MS) {
        delays.reset();
        since = now();
      }
      return lag;
    },
    close: () => void delays.disable(),
  };
}

/** Converts a measured interval to a delay; NaN before the first measurement. */
function beyondResolution(nanoseconds: number): number {
  const ms = nanoseconds / 1e6 - RESOLUTION_MS;
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms * 10) / 10 : 0;
}
