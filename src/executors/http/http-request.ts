import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { CreateConnectionFunction, Request, RequestFunction } from 'got';
import { messageOf } from '#system/errors.ts';
import { readRegular } from '#system/regular-file.ts';
import type { Pairs } from './header-fields.ts';
import { explainRequestError, RequestProblem } from './http-problem.ts';
import { proxyFor, requestThroughProxy, tunnelThroughProxy } from './proxy.ts';
import { type Hop, nextHop, type ResponseHead } from './redirect.ts';

/** Options of a request and its redirects. */
export type RequestOptions = {
  /** For the whole exchange, redirects and body included; null: no limit. */
  readonly timeoutMs: number | null;
  /** Null: the request has no such setting. */
  readonly skipTlsVerify: boolean | null;
  /** Provides the proxies and `NODE_EXTRA_CA_CERTS`. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether to follow the `Location` of an answer with this status. */
  readonly follows: (status: number) => boolean;
  /** Whether a header's value contains a secret, which must stay with its origin. */
  readonly holdsSecret: (text: string) => boolean;
  /** Aborts the request at once. */
  readonly signal: AbortSignal;
};

/** Receives an answer as it arrives. */
export type ResponseReader = {
  /** Called before each request: the first and every redirect. */
  readonly onHop: (hop: Hop, proxy: URL | null) => void;
  readonly onHead: (head: ResponseHead) => void;
  /** Decompressed. */
  readonly onBody: (chunk: Uint8Array) => void;
};

/** The last request, and its answer or why there is none, in one line. */
export type RequestEnd = { readonly hop: Hop } & ({ readonly head: ResponseHead } | { readonly problem: string });

/** Largest decompressed body, in bytes. */
const maxBodyBytes = 10 * 1024 * 1024;
const maxRedirects = 10;
/** Longest delay of a Node timer in milliseconds; with a longer one it fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Makes a request and follows its redirects, with got. Never throws and never retries: problems are returned, and
 * nothing stays open.
 */
export async function sendRequest(first: Hop, options: RequestOptions, reader: ResponseReader): Promise<RequestEnd> {
  const deadline = new AbortController();
  const { timeoutMs } = options;
  const timer =
    timeoutMs === null || timeoutMs > maxTimerMs ? undefined : setTimeout(() => deadline.abort(), timeoutMs);
  const signal = AbortSignal.any([options.signal, deadline.signal]);
  const state = { hop: first, proxy: null as URL | null };
  try {
    return await follow(state, { ...options, signal }, reader);
  } catch (error) {
    const { hop, proxy } = state;
    const context = { url: hop.url, proxy, canSkipTls: options.skipTlsVerify !== null };
    const late = `no complete response within ${(timeoutMs ?? 0) / 1000} seconds`;
    return { hop, problem: deadline.signal.aborted ? late : explainRequestError(error, context) };
  } finally {
    clearTimeout(timer);
  }
}

/** `state` shows how far the request got, also after an error. */
async function follow(
  state: { hop: Hop; proxy: URL | null },
  options: RequestOptions,
  reader: ResponseReader,
): Promise<RequestEnd> {
  for (let redirects = 0; ; redirects++) {
    const { hop } = state;
    state.proxy = proxyFor(hop.url, options.env);
    reader.onHop(hop, state.proxy);
    const stream = await open(hop, state.proxy, options);
    try {
      const head = headOf(await response(stream));
      const next = options.follows(head.status) ? nextHop(hop, head, options.holdsSecret) : null;
      if (next === null) {
        reader.onHead(head);
        await readBody(stream, reader);
        return { hop, head };
      }
      if (redirects === maxRedirects) throw new RequestProblem(`more than ${maxRedirects} redirects`);
      state.hop = next;
    } finally {
      stream.destroy();
    }
  }
}

async function open({ method, url, headers, body }: Hop, proxy: URL | null, options: RequestOptions): Promise<Request> {
  const { got } = await import('got');
  const tls = { rejectUnauthorized: !options.skipTlsVerify, ...certificateAuthorities(options.env) };
  const stream = got.stream(url, {
    method: method as 'GET',
    headers: headerMap(headers),
    // got waits for a body if the method allows one and none is given.
    ...(body === '' && (method === 'GET' || method === 'HEAD') ? {} : { body, allowGetBody: true }),
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    https: {
      rejectUnauthorized: tls.rejectUnauthorized,
      ...(tls.ca === undefined ? {} : { certificateAuthority: tls.ca }),
    },
    // Connections are not kept alive: nothing must stay open.
    agent: { http: false, https: false },
    signal: options.signal,
    ...throughProxy(proxy, url, tls, options.signal),
  });
  // The reader gets the error; without this listener a late error would end the process.
  stream.on('error', () => {});
  return stream;
}

/** Proxy settings for got, which does not support proxies itself. */
function throughProxy(proxy: URL | null, url: URL, tls: Tls, signal: AbortSignal): ProxySettings {
  if (proxy === null) return {};
  if (url.protocol === 'http:') return { request: (_url, native) => requestThroughProxy(proxy, url, native) };
  const createConnection: CreateConnection = (_native, done) => {
    tunnelThroughProxy(proxy, url, tls, signal).then(
      (socket) => done(null, socket),
      // After an abort nothing listens for errors any more.
      (error: Error) => signal.aborted || done(error, null),
    );
  };
  return { agent: {}, createConnection: createConnection as CreateConnectionFunction };
}

/** Typed like in Node: the socket may arrive later. */
type CreateConnection = (native: unknown, done: (error: Error | null, socket: Socket | null) => void) => void;
type ProxySettings = {
  readonly request?: RequestFunction;
  readonly agent?: Record<string, never>;
  readonly createConnection?: CreateConnectionFunction;
};
type Tls = { readonly rejectUnauthorized: boolean; readonly ca?: string[] };

/** Node reads `NODE_EXTRA_CA_CERTS` only at startup; a step may have its own. */
function certificateAuthorities(env: Readonly<Record<string, string>>): { ca?: string[] } {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return {};
  try {
    return { ca: [...rootCertificates, readRegular(file).toString('utf8')] };
  } catch (error) {
    const why = messageOf(error);
    throw new RequestProblem(`NODE_EXTRA_CA_CERTS cannot be read: ${why}`);
  }
}

function headerMap(headers: Pairs): Record<string, string | string[]> {
  const map: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const before = map[key];
    map[key] = before === undefined ? value : [before, value].flat();
  }
  return map;
}

function response(stream: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
  });
}

function headOf({ httpVersion, statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage): ResponseHead {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']);
  return { httpVersion, status: statusCode, statusText: statusMessage, headers };
}

async function readBody(stream: Request, reader: ResponseReader): Promise<void> {
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw new RequestProblem('the body is larger than the limit of 10 MiB');
    reader.onBody(chunk);
  }
}
