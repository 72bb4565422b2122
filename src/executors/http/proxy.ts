import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest, type RequestOptions as TlsRequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { RequestProblem } from './http-problem.ts';
import { shownUrl, shownUrlText } from './shown.ts';
import { urlLogin } from './url-login.ts';

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
export function requestThroughProxy(proxy: URL, url: URL, options: RequestOptions): ClientRequest {
  const headers = { host: url.host, ...options.headers, ...proxyAuthorization(proxy) };
  return requestTo(proxy, { ...options, agent: false, path: `${url.origin}${url.pathname}${url.search}`, headers });
}

/**
 * Connects to the host of a URL through a proxy and speaks TLS with the host. Existing agent packages keep waiting for
 * the proxy when the request is aborted.
 */
export function tunnelThroughProxy(proxy: URL, url: URL, tls: ConnectionOptions, signal: AbortSignal): Promise<Socket> {
  const host = `${url.hostname}:${url.port || '443'}`;
  const headers = { host, ...proxyAuthorization(proxy) };
  const authorities = tls.ca === undefined ? {} : { ca: tls.ca };
  const request = requestTo(proxy, { method: 'CONNECT', path: host, headers, agent: false, signal, ...authorities });
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(connectTls({ ...tls, socket, ...serverName(url) }));
      socket.destroy();
      reject(
        new RequestProblem(`the proxy ${shownUrl(proxy)} refuses: ${response.statusCode} ${response.statusMessage}`),
      );
    });
    request.end();
  });
}

/** "skipTLSVerify" applies to the server; the proxy's certificate is always verified. */
function requestTo(proxy: URL, options: TlsRequestOptions): ClientRequest {
  const isTls = proxy.protocol === 'https:';
  const hostname = bareHost(proxy);
  const port = proxy.port || (isTls ? '443' : '80');
  const to = { ...options, protocol: proxy.protocol, hostname, host: hostname, port };
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
  if (port !== undefined && port !== (url.port || (url.protocol === 'https:' ? '443' : '80'))) return false;
  const name = host.replace(/^\*?\.|^\[|\]$/g, '');
  return bareHost(url) === name || bareHost(url).endsWith(`.${name}`);
}
