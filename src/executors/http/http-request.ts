import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions as PlainRequestOptions,
} from 'node:http';
import { request as httpsRequest, type RequestOptions as TlsRequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, rootCertificates } from 'node:tls';
import type { CreateConnectionFunction, Request, StreamOptions } from 'got';
import { given } from '#core/data/collections.ts';
import { messageOf } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';
import { type Pairs, urlLogin } from './header-fields.ts';
import { explainRequestError, RequestProblem, shownUrl, shownUrlText } from './http-problem.ts';

/** Options of a request and its redirects. */
export type RequestOptions = {
  /** For the whole exchange, redirects and body included; null: no limit. */
  readonly timeoutMs: number | null;
  /** Null: the request has no such setting. */
  readonly skipTlsVerify: boolean | null;
  /** Provides the proxies and `NODE_EXTRA_CA_CERTS`. */
  readonly env: Environment;
  /** Whether to follow the `Location` of an answer with this status. */
  readonly follows: (status: number) => boolean;
  /** Whether a header's value contains a secret, which must stay with its origin. */
  readonly holdsSecret: (text: string) => boolean;
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
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 10;
/** Longest delay of a Node timer in milliseconds; with a longer one it fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Makes a request and follows its redirects, with got. Never throws or retries, and leaves nothing open. */
export async function sendRequest(first: Hop, options: RequestOptions, reader: ResponseReader): Promise<RequestEnd> {
  const deadline = new AbortController();
  const { timeoutMs } = options;
  const timer =
    timeoutMs === null || timeoutMs > MAX_TIMER_MS ? undefined : setTimeout(() => deadline.abort(), timeoutMs);
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
      if (redirects === MAX_REDIRECTS) throw new RequestProblem(`more than ${MAX_REDIRECTS} redirects`);
      state.hop = next;
    } finally {
      stream.destroy();
    }
  }
}

async function open({ method, url, headers, body }: Hop, proxy: URL | null, options: RequestOptions): Promise<Request> {
  const { got } = await import('got');
  const rejectUnauthorized = !options.skipTlsVerify;
  const ca = certificateAuthorities(options.env);
  const stream = got.stream(url, {
    method: method as 'GET',
    headers: headerMap(headers),
    // got waits for a body if the method allows one and none is given.
    ...(body === '' && (method === 'GET' || method === 'HEAD') ? {} : { body, allowGetBody: true }),
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    https: { rejectUnauthorized, ...given({ certificateAuthority: ca }) },
    // Connections are not kept alive: nothing must stay open.
    agent: { http: false, https: false },
    signal: options.signal,
    ...throughProxy(proxy, url, { rejectUnauthorized, ...given({ ca }) }, options.signal),
  });
  // The reader gets the error; without this listener a late error would end the process.
  stream.on('error', () => {});
  return stream;
}

/** Proxy settings for got, which does not support proxies itself. */
function throughProxy(proxy: URL | null, url: URL, tls: ConnectionOptions, signal: AbortSignal): StreamOptions {
  if (proxy === null) return {};
  if (url.protocol === 'http:') return { request: (_url, native) => requestThroughProxy(proxy, url, native) };
  // The socket may arrive later, which the type of got leaves out.
  const createConnection = (_native: unknown, done: (error: Error | null, socket: Socket | null) => void) => {
    tunnelThroughProxy(proxy, url, tls, signal).then(
      (socket) => done(null, socket),
      // After an abort nothing listens for errors any more.
      (error: Error) => signal.aborted || done(error, null),
    );
  };
  return { agent: {}, createConnection: createConnection as unknown as CreateConnectionFunction };
}

/** Node reads `NODE_EXTRA_CA_CERTS` only at startup; a step may have its own. */
function certificateAuthorities(env: Environment): string[] | null {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return null;
  try {
    return [...rootCertificates, readRegular(file).toString('utf8')];
  } catch (error) {
    throw new RequestProblem(`NODE_EXTRA_CA_CERTS cannot be read: ${messageOf(error)}`);
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
    if (length > MAX_BODY_BYTES) throw new RequestProblem('the body is larger than the limit of 10 MiB');
    reader.onBody(chunk);
  }
}

/** One request as sent. */
export type Hop = {
  readonly method: string;
  /** Without credentials, which are in a header. */
  readonly url: URL;
  readonly headers: Pairs;
  /** Empty: none. */
  readonly body: string | Buffer;
};

/** The head of an answer; headers as sent. */
export type ResponseHead = {
  readonly httpVersion: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Pairs;
};

const redirects = new Set([301, 302, 303, 307, 308]);
const forOneOrigin = new Set(['authorization', 'cookie', 'proxy-authorization', 'host']);
/** Header names that suggest a credential: `X-Api-Key`, `Private-Token`, `X-Vault-Token`. */
const NAMES_CREDENTIAL = /key|token|auth|secret|passw|session|signature/i;

/**
 * The request that an answer redirects to, or null. Like in browsers, 303 makes it a GET, and so do 301 and 302 for a
 * POST (RFC 9110, 15.4). For another origin credentials are dropped: headers with a telling name, or whose value
 * `holdsSecret`. Throws a `RequestProblem` for a location that is neither http nor https.
 */
export function nextHop(
  hop: Hop,
  { status, headers }: ResponseHead,
  holdsSecret: (text: string) => boolean,
): Hop | null {
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  if (location === undefined || !redirects.has(status)) return null;
  const url = locationUrl(location, hop.url);
  const isCredential = (name: string, value: string) =>
    forOneOrigin.has(name) || NAMES_CREDENTIAL.test(name) || holdsSecret(value);
  const sent = isSameOrigin(hop.url, url) ? hop.headers : without(hop.headers, isCredential);
  const isGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  if (!isGet) return { ...hop, url, headers: sent };
  return { method: 'GET', url, headers: without(sent, (name) => name.startsWith('content-')), body: '' };
}

function locationUrl(location: string, from: URL): URL {
  // Node decodes headers as Latin-1, but servers send UTF-8.
  const text = Buffer.from(location, 'latin1').toString();
  const url = URL.canParse(text, from.href) ? new URL(text, from) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new RequestProblem(`it redirects to "${shownUrlText(text)}", which is neither http nor https`);
  }
  // Only the user provides credentials, not a redirect.
  url.username = '';
  url.password = '';
  return url;
}

/** Switching to https on the same host and port, or between the default ports, keeps the origin here. */
function isSameOrigin(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname;
  return from.origin === to.origin || (isUpgrade && (from.port === to.port || portOf(from) === portOf(to)));
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function without(headers: Pairs, isLeftOut: (name: string, value: string) => boolean): Pairs {
  return headers.filter(([name, value]) => !isLeftOut(name.toLowerCase(), value));
}

type Environment = Readonly<Record<string, string>>;

/**
 * The proxy for a URL according to `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` (lower case takes precedence); null for
 * none. `NO_PROXY` lists hosts separated by commas or blanks: `example.com` matches the host and its subdomains,
 * `host:8080` one port, `*` every host. Throws a `RequestProblem` for an invalid proxy URL.
 */
export function proxyFor(url: URL, env: Environment): URL | null {
  const scheme = url.protocol.slice(0, -1);
  const text = env[`${scheme}_proxy`] ?? env[`${scheme.toUpperCase()}_PROXY`] ?? '';
  if (text === '' || isExempt(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return null;
  const full = text.includes('://') ? text : `http://${text}`;
  const proxy = URL.canParse(full) ? new URL(full) : null;
  if (proxy !== null && (proxy.protocol === 'http:' || proxy.protocol === 'https:')) return proxy;
  throw new RequestProblem(`the proxy "${shownUrlText(text)}" is not a URL that begins with http:// or https://`);
}

/** Requests an unencrypted URL from a proxy: the request line contains the whole URL. */
function requestThroughProxy(proxy: URL, url: URL, options: PlainRequestOptions): ClientRequest {
  const headers = { host: url.host, ...options.headers, ...proxyAuthorization(proxy) };
  return requestTo(proxy, { ...options, agent: false, path: `${url.origin}${url.pathname}${url.search}`, headers });
}

/** Speaks TLS with a host through a proxy. Agent packages would keep waiting for the proxy after an abort. */
function tunnelThroughProxy(proxy: URL, url: URL, tls: ConnectionOptions, signal: AbortSignal): Promise<Socket> {
  const host = `${url.hostname}:${portOf(url)}`;
  const headers = { host, ...proxyAuthorization(proxy) };
  const authorities = given({ ca: tls.ca });
  const request = requestTo(proxy, { method: 'CONNECT', path: host, headers, agent: false, signal, ...authorities });
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(connectTls({ ...tls, socket, ...serverName(url) }));
      socket.destroy();
      const refusal = `${response.statusCode} ${response.statusMessage}`;
      reject(new RequestProblem(`the proxy ${shownUrl(proxy)} refuses: ${refusal}`));
    });
    request.end();
  });
}

/** "skipTLSVerify" applies to the server; the proxy's certificate is always verified. */
function requestTo(proxy: URL, options: TlsRequestOptions): ClientRequest {
  const isTls = proxy.protocol === 'https:';
  const hostname = bareHost(proxy);
  const to = { ...options, protocol: proxy.protocol, hostname, host: hostname, port: portOf(proxy) };
  if (!isTls) return httpRequest(to);
  return httpsRequest({ ...to, rejectUnauthorized: true, servername: isIP(hostname) === 0 ? hostname : '' });
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  const login = urlLogin(proxy);
  return login === null ? {} : { 'proxy-authorization': login };
}

/** The server name for TLS, which has none for IP addresses. */
function serverName(url: URL): ConnectionOptions {
  const host = bareHost(url);
  return isIP(host) === 0 ? { host, servername: host } : { host };
}

/** URLs put IPv6 addresses in brackets; nothing else does. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function isExempt(url: URL, list: string): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry.toLowerCase(), url));
}

function matches(entry: string, url: URL): boolean {
  if (entry === '*') return true;
  const [, host = '', port] = /^(\[.*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && port !== portOf(url)) return false;
  const name = host.replace(/^\*?\.|^\[|\]$/g, '');
  return bareHost(url) === name || bareHost(url).endsWith(`.${name}`);
}
