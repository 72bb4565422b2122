import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import type { ClientSettings } from '#config/part-settings.ts';
import { given } from '#core/data/collections.ts';
import { failedAs, WfError } from '#system/errors.ts';
import { isObject, type JsonMap } from './json-fields.ts';
import { connectionProblem, noAnswer, notUnderstood, problemError } from './problem-error.ts';

/** The v2 API of one daemon. Every method throws the daemon's errors as a `WfError`, as local functions do. */
export type DaemonClient = Pick<Transport, 'settings' | 'limits' | 'close'> & {
  /** Receives a line for the user while the client waits for a daemon that does not answer. */
  readonly tell: (line: string) => void;
  /** Returns the object of the response. Paths are relative to `/api/v2`. */
  readonly get: (path: string) => Promise<JsonMap>;
  /** Posts a body. `slow`: the daemon responds only when a run has begun. */
  readonly post: (path: string, body: unknown, options?: { readonly slow?: boolean }) => Promise<Answer>;
  /** Returns the number of bytes of a response without reading it. */
  readonly size: (path: string) => Promise<number>;
  /** The value of a header of the response; null if it has none. */
  readonly header: (path: string, name: string) => Promise<string | null>;
  /** Opens a response for streaming; its status is 2xx. */
  readonly open: (
    path: string,
    signal: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<IncomingMessage>;
};

/** The response to a request that changes something. */
export type Answer = { readonly status: number; readonly body: JsonMap };

const never = new AbortController().signal;

/** Creates a client that uses a transport. */
export function createDaemonClient(transport: Transport, tell: DaemonClient['tell']): DaemonClient {
  const { settings, limits, close } = transport;
  const usual = { headers: {}, body: null, answerMs: limits.answerMs, isStream: false, signal: never };
  const json = async (request: Pick<Parameters<Transport['send']>[0], 'method' | 'path' | 'body' | 'answerMs'>) => {
    const incoming = await accepted(await transport.send({ ...usual, ...request }), transport);
    const body = parseObject(await answerText(incoming, transport), transport);
    return { status: incoming.statusCode ?? 0, body };
  };
  const headersOf = async (path: string) => {
    const request = { ...usual, method: 'HEAD', path: `/api/v2${path}` } as const;
    const incoming = await accepted(await transport.send(request), transport);
    incoming.resume();
    return incoming.headers;
  };
  return {
    settings,
    limits,
    close,
    tell,
    get: async (path) =>
      (await json({ method: 'GET', path: `/api/v2${path}`, body: null, answerMs: limits.answerMs })).body,
    post: (path, body, { slow = false } = {}) => {
      const answerMs = slow ? limits.startMs : limits.answerMs;
      return json({ method: 'POST', path: `/api/v2${path}`, body, answerMs });
    },
    size: async (path) => Number((await headersOf(path))['content-length'] ?? 0),
    header: async (path, name) => {
      const value = (await headersOf(path))[name];
      return typeof value === 'string' ? value : null;
    },
    open: async (path, signal, headers = {}) => {
      const request = { ...usual, method: 'GET', path: `/api/v2${path}`, headers, isStream: true, signal } as const;
      return accepted(await transport.send(request), transport);
    },
  };
}

/** Encodes a segment of a path. */
export function segment(text: string): string {
  // A path that ends in one of these would be resolved to another path.
  return text === '.' || text === '..' ? text.replaceAll('.', '%2E') : encodeURIComponent(text);
}

async function accepted(incoming: IncomingMessage, transport: Transport): Promise<IncomingMessage> {
  const { statusCode: status = 0, headers } = incoming;
  if (status >= 200 && status < 300) return incoming;
  const { location = '', 'retry-after': retryAfter = null } = headers;
  if (status >= 300 && status < 400) {
    incoming.destroy();
    throw notUnderstood(transport.settings, `it redirects to ${JSON.stringify(location)}, where no login is sent`);
  }
  const body = await answerText(incoming, transport);
  throw problemError({ status, retryAfter, body }, transport.settings);
}

function parseObject(text: string, { settings }: Transport): JsonMap {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notUnderstood(settings, 'it is not JSON');
  }
  if (isObject(value)) return value;
  throw notUnderstood(settings, 'it is not an object');
}

/** The limits for a daemon: times in milliseconds, and the size of responses. */
export type ClientLimits = {
  /** From the request to the first byte of the response. */
  readonly answerMs: number;
  /** The same for requests that wait for a run to begin. */
  readonly startMs: number;
  /** The longest pause within a response or stream. */
  readonly silenceMs: number;
  /** The maximum size of a response that is not a stream. */
  readonly answerBytes: number;
  /** The pause before a broken stream is reopened; doubled each time, up to `longestPauseMs`. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** The maximum time without an answer of the daemon while a run is followed. */
  readonly patienceMs: number;
};

/** The limits of commands. */
export const clientLimits: ClientLimits = {
  answerMs: 30_000,
  startMs: 90_000,
  silenceMs: 60_000,
  answerBytes: 256 * 1024 * 1024,
  pauseMs: 100,
  longestPauseMs: 2000,
  patienceMs: 120_000,
};

/** A request to a daemon. */
type RemoteRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Relative to the address, encoded, with its query: `/api/v2/runs?limit=1`. */
  readonly path: string;
  /** Sent as JSON; null: no body. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerMs: number;
  /** Whether the response may last long; streams are not limited by `mostSockets`. */
  readonly isStream: boolean;
  readonly signal: AbortSignal;
};

/** The connections to one daemon, which are reused. */
type Transport = {
  readonly settings: ClientSettings;
  readonly limits: ClientLimits;
  /**
   * Resolves to the response with an unread body, whatever its status. Rejects with a `WfError` `unreachable` if there
   * is no response in time, and with the signal's reason if it is aborted.
   */
  readonly send: (request: RemoteRequest) => Promise<IncomingMessage>;
  readonly close: () => void;
};

/** The maximum number of concurrent requests, streams not included. */
const mostSockets = 8;

/**
 * Creates a transport with Node's own HTTP client, since other clients take longer to load than most commands run.
 * Redirects are not followed. Requests must be idempotent: after a failure on a reused connection they are sent again.
 */
export function createTransport(settings: ClientSettings, limits: ClientLimits): Transport {
  const isTls = settings.url.startsWith('https:');
  const start = isTls ? httpsRequest : httpRequest;
  const newAgent = (maxSockets: number) => {
    const options = { keepAlive: true, maxSockets };
    return isTls ? new HttpsAgent({ ...options, ...trust(settings) }) : new HttpAgent(options);
  };
  const agents = { answers: newAgent(mostSockets), streams: newAgent(Number.POSITIVE_INFINITY) };
  return {
    settings,
    limits,
    send: async (request) => {
      const agent = request.isStream ? agents.streams : agents.answers;
      try {
        return await send(request, { settings, agent, start });
      } catch (error) {
        if (!(error instanceof KeptTooLong)) throw error;
        return send(request, { settings, agent, start });
      }
    },
    close: () => {
      agents.answers.destroy();
      agents.streams.destroy();
    },
  };
}

/** Adds authorities to those of Node; otherwise they would replace them. */
function trust({ ca }: ClientSettings): { ca?: string[] } {
  return ca === null ? {} : { ca: [...rootCertificates, ca] };
}

/** The daemon closed the reused connection before it received the request. */
class KeptTooLong extends Error {}

type Sending = {
  readonly settings: ClientSettings;
  readonly agent: HttpAgent | HttpsAgent;
  readonly start: typeof httpRequest | typeof httpsRequest;
};

function send(request: RemoteRequest, { settings, agent, start }: Sending): Promise<IncomingMessage> {
  const { method, path, body, answerMs, signal } = request;
  const text = body === null ? null : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let late: WfError | null = null;
    const outgoing = start(`${settings.url}${path}`, { method, agent, headers: headersOf(request, text, settings) });
    const timer = setTimeout(() => {
      late = noAnswer(settings, answerMs);
      outgoing.destroy();
    }, answerMs);
    const abort = () => outgoing.destroy();
    signal.addEventListener('abort', abort, { once: true });
    outgoing.once('response', (incoming) => {
      clearTimeout(timer);
      incoming.once('close', () => signal.removeEventListener('abort', abort));
      resolve(incoming);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (signal.aborted) reject(signal.reason);
      else if (late === null && outgoing.reusedSocket && error.code === 'ECONNRESET') reject(new KeptTooLong());
      else reject(late ?? connectionProblem(error, settings));
    });
    outgoing.end(text ?? undefined);
  });
}

function headersOf(
  { headers }: RemoteRequest,
  text: string | null,
  { authorization }: ClientSettings,
): Record<string, string | number> {
  return {
    Accept: 'application/json, application/problem+json',
    ...given({ Authorization: authorization }),
    ...(text === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    ...headers,
  };
}

/**
 * Yields the body of a response as it arrives. Throws a `WfError` `unreachable` if the connection breaks, or no byte
 * arrives for too long (not counting the reader's own time). Leaving the loop early closes the connection.
 */
export async function* answerBytes(
  incoming: IncomingMessage,
  { settings, limits }: Pick<Transport, 'settings' | 'limits'>,
): AsyncGenerator<Uint8Array, void> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const timer = setTimeout(() => incoming.destroy(noAnswer(settings, limits.silenceMs)), limits.silenceMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    throw error instanceof WfError ? error : connectionProblem(error as NodeJS.ErrnoException, settings);
  } finally {
    if (!incoming.readableEnded) incoming.destroy();
  }
}

/** Reads a whole body as text. Throws a `WfError` `unreachable` also for a body that is too large or not UTF-8. */
async function answerText(incoming: IncomingMessage, transport: Transport): Promise<string> {
  const { settings, limits } = transport;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answerBytes(incoming, transport)) {
    length += chunk.length;
    if (length > limits.answerBytes) throw notUnderstood(settings, `it is larger than ${limits.answerBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, length));
  } catch {
    throw notUnderstood(settings, 'it is not UTF-8');
  }
}

/** Waits for a daemon that does not answer, while a run is followed. */
type Patience = {
  /**
   * Resolves when a retry is due. Throws the error itself if a retry would not help, or after too long; throws the
   * signal's reason if it is aborted.
   */
  readonly wait: (error: unknown, signal: AbortSignal) => Promise<void>;
  /** Notes that the daemon has answered. */
  readonly refresh: () => void;
};

/** Creates the waiting; `tell` receives a line when the daemon stops answering, and when it answers again. */
export function createPatience({ settings, limits, tell }: DaemonClient): Patience {
  let goneSince: number | null = null;
  let isTold = false;
  let pauseMs = limits.pauseMs;
  return {
    wait: async (error, signal) => {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      goneSince ??= performance.now();
      if (performance.now() - goneSince > limits.patienceMs) throw error;
      if (pauseMs > limits.pauseMs && !isTold) {
        isTold = true;
        tell(`${settings.url} does not answer; retrying`);
      }
      await pause(pauseMs, undefined, { signal });
      pauseMs = Math.min(pauseMs * 2, limits.longestPauseMs);
    },
    refresh: () => {
      if (isTold) tell(`${settings.url} answers again`);
      goneSince = null;
      isTold = false;
      pauseMs = limits.pauseMs;
    },
  };
}

/** Whether an error is temporary: the daemon does not answer, restarts, or is busy. */
function isPassing(error: unknown): boolean {
  return failedAs(error, 'unreachable', 'busy');
}
