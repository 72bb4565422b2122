import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { CreateConnectionFunction, Request, RequestFunction } from 'got';
import { readRegular } from '../../regular-file.ts';
import type { Pairs } from './fields.ts';
import { explainRequestError, RequestProblem, requestLine } from './problem.ts';
import { proxyFor, requestThroughProxy, tunnelThroughProxy } from './proxy.ts';
import { type Hop, nextHop, type ResponseHead } from './redirect.ts';

/** What a request is made with besides itself. */
export type RequestOptions = {
  /** For all of it, redirects and body included; null: no limit. */
  readonly timeoutMs: number | null;
  readonly skipTlsVerify: boolean;
  /** The proxies are taken from it, and `NODE_EXTRA_CA_CERTS`. */
  readonly env: Readonly<Record<string, string>>;
  /** Is an answer with this status to be followed to its `Location`? */
  readonly follows: (status: number) => boolean;
  /** Whether a header's value holds a secret, which is for one origin alone. */
  readonly holdsSecret: (text: string) => boolean;
  /** Aborts it at once. */
  readonly signal: AbortSignal;
};

/** Is told of everything when it comes. */
export type ResponseReader = {
  /** A request is about to be sent: the first one, or one that a redirect asks for. */
  readonly onHop: (hop: Hop, proxy: URL | null) => void;
  readonly onHead: (head: ResponseHead) => void;
  /** Decompressed. */
  readonly onBody: (chunk: Uint8Array) => void;
};

/** The answer that counts and whom it is from, or in one line why there is none. */
export type RequestEnd = { readonly hop: Hop; readonly head: ResponseHead } | { readonly problem: string };

/** The most that is taken of a body, decompressed. */
const largestBody = 10 * 1024 * 1024;
const mostRedirects = 10;
/** A timer that waits longer fires at once. */
const longestTimer = 2 ** 31 - 1;

/**
 * Makes one request and follows its redirects, with got. Nothing is thrown and nothing tried again: what goes wrong is told,
 * and nothing is left open.
 */
export async function sendRequest(first: Hop, options: RequestOptions, reader: ResponseReader): Promise<RequestEnd> {
  const deadline = new AbortController();
  const { timeoutMs } = options;
  const timer =
    timeoutMs === null || timeoutMs > longestTimer ? undefined : setTimeout(() => deadline.abort(), timeoutMs);
  const signal = AbortSignal.any([options.signal, deadline.signal]);
  const state = { hop: first, proxy: null as URL | null };
  try {
    return await follow(state, { ...options, signal }, reader);
  } catch (error) {
    const { hop, proxy } = state;
    const late = `no complete answer within ${(timeoutMs ?? 0) / 1000} seconds`;
    const why = deadline.signal.aborted ? late : explainRequestError(error, hop.url, proxy);
    return { problem: requestLine(hop.method, hop.url, why) };
  } finally {
    clearTimeout(timer);
  }
}

/** `state` tells, also after an error, how far it came. */
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
      if (redirects === mostRedirects) throw new RequestProblem(`more than ${mostRedirects} redirects`);
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
    // got waits for a body to be written where one is possible and none is given.
    ...(body === '' && (method === 'GET' || method === 'HEAD') ? {} : { body, allowGetBody: true }),
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    https: {
      rejectUnauthorized: tls.rejectUnauthorized,
      ...(tls.ca === undefined ? {} : { certificateAuthority: tls.ca }),
    },
    // Connections are not kept: nothing is to stay behind.
    agent: { http: false, https: false },
    signal: options.signal,
    ...throughProxy(proxy, url, tls, options.signal),
  });
  // Whoever reads gets the error; one that comes when nobody does must not end the process.
  stream.on('error', () => {});
  return stream;
}

/** Got's settings for a proxy, of which it knows nothing. */
function throughProxy(proxy: URL | null, url: URL, tls: Tls, signal: AbortSignal): ProxySettings {
  if (proxy === null) return {};
  if (url.protocol === 'http:') return { request: (_url, native) => requestThroughProxy(proxy, url, native) };
  const createConnection: CreateConnection = (_native, done) => {
    tunnelThroughProxy(proxy, url, tls, signal).then(
      (socket) => done(null, socket),
      // An aborted request is over, and nobody listens to its errors any more.
      (error: Error) => signal.aborted || done(error, null),
    );
  };
  return { agent: {}, createConnection: createConnection as CreateConnectionFunction };
}

/** As Node has it: the socket may come later. */
type CreateConnection = (native: unknown, done: (error: Error | null, socket: Socket | null) => void) => void;
type ProxySettings = {
  readonly request?: RequestFunction;
  readonly agent?: Record<string, never>;
  readonly createConnection?: CreateConnectionFunction;
};
type Tls = { readonly rejectUnauthorized: boolean; readonly ca?: string[] };

/** Node reads `NODE_EXTRA_CA_CERTS` when it starts; a step may have its own. */
function certificateAuthorities(env: Readonly<Record<string, string>>): { ca?: string[] } {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return {};
  try {
    return { ca: [...rootCertificates, readRegular(file).toString('utf8')] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
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
    if (length > largestBody) throw new RequestProblem('the body is larger than 10 MiB, the most that is taken');
    reader.onBody(chunk);
  }
}
