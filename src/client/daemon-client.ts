import type { IncomingMessage } from 'node:http';
import { answerText } from './transport/answer-bytes.ts';
import { notUnderstood } from './transport/connection-problem.ts';
import { isObject, type JsonMap } from './transport/json-fields.ts';
import { problemError } from './transport/problem-error.ts';
import type { Transport } from './transport/transport.ts';

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
