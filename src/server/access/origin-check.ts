import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpError, type Reply } from '../route.ts';

/**
 * Rejects requests of pages from other origins that no setting allows (an `HttpError` 403): such a page could otherwise
 * start runs with the login that the browser remembers. Programs other than browsers send neither header and are not
 * affected. Returns the page's origin if a setting allows it, else null.
 *
 * A link from another site to a page of the server is allowed, since that site can neither read nor change anything.
 */
export function checkOrigin({ method, headers }: IncomingMessage, allowed: readonly string[]): string | null {
  const { origin } = headers;
  if (origin !== undefined && allowed.includes(origin)) return origin;
  if (isOwn(headers) || isLink(method, headers)) return null;
  throw new HttpError(403, 'this request was made by a page of another site', {
    help: 'the origins whose pages may use the API are set as "corsOrigins"',
  });
}

/**
 * Whether a page of the server itself sent the request. Only the browser sets `Sec-Fetch-Site`, and it considers the
 * initiator: an extension with a permission for this address is `none`. Another port of the same machine is the same
 * site, but not the same origin. Without TLS, browsers omit the header except for this machine; then `Origin` decides.
 */
function isOwn(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (headers.origin === undefined) return true;
  return isOwnOrigin(headers, false);
}

/** Whether `Origin` names the host of the request; with `isSecure` also its protocol, https. */
export function isOwnOrigin({ origin, host }: IncomingHttpHeaders, isSecure: boolean): boolean {
  const [, protocol, name] = /^(https?):\/\/(.+)$/.exec(origin?.toLowerCase() ?? '') ?? [];
  return name !== undefined && name === host?.toLowerCase() && (protocol === 'https' || !isSecure);
}

function isLink(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  const isPage = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isPage && headers.origin === undefined && (method === 'GET' || method === 'HEAD');
}

const REQUEST_HEADERS = 'Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID';

/** Returns the headers that let a page of an allowed origin read a response; empty for other origins. */
export function corsHeaders(origin: string | null): Readonly<Record<string, string>> {
  if (origin === null) return {};
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'ETag, WF-Cursor, Retry-After, Location',
  };
}

/** Whether a request is a CORS preflight, which browsers send without a login. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

/** Returns the response to a preflight from an allowed origin. */
export function preflightReply({ headers }: IncomingMessage): Reply {
  const isLocal = headers['access-control-request-private-network'] === 'true';
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
      'Access-Control-Allow-Headers': REQUEST_HEADERS,
      'Access-Control-Max-Age': '600',
      ...(isLocal ? { 'Access-Control-Allow-Private-Network': 'true' } : {}),
    },
    body: null,
  };
}

/** The host names that a server accepts. */
export type HostNames = {
  readonly port: number;
  /** The default port of the protocol: 443 with TLS, else 80. */
  readonly usualPort: number;
  /** Further names, in lower case, with a port or for any port. */
  readonly allowed: readonly string[];
};

/**
 * Names and addresses of the browser's own machine, to which no foreign page can bind its own name. Any port is
 * accepted, since `ssh -L 9000:localhost:8080` and port forwards of containers change it.
 */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Rejects requests for unknown host names: a web page could bind its own name to this address and would then have the
 * same origin as the server (DNS rebinding). The local address of the connection is always accepted. Throws an
 * `HttpError`: 400 unless there is exactly one Host header, 421 for an unknown name.
 */
export function checkHost({ headers, rawHeaders, socket }: IncomingMessage, names: HostNames): void {
  const given = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  const host = headers.host?.toLowerCase() ?? '';
  if (given !== 1 || !/^[^\s/?#@\\]+$/.test(host)) throw new HttpError(400, 'a request needs exactly one Host header');
  if (isAllowed(host, inBrackets(socket.localAddress ?? ''), names)) return;
  throw new HttpError(421, `the host name "${host}" is not allowed`, {
    help: 'allow it with "allowedHosts"; the names and addresses of this machine are always allowed',
  });
}

function isAllowed(host: string, address: string, { port, usualPort, allowed }: HostNames): boolean {
  const name = host.replace(/:\d*$/, '');
  if (allowed.includes(host) || allowed.includes(name)) return true;
  if (LOOPBACK.test(name)) return true;
  const given = host.slice(name.length + 1);
  return name === address && (given === '' ? usualPort : Number(given)) === port;
}

/** Formats an address as in a Host header: `[::1]`; an IPv4 address in IPv6 form becomes IPv4. */
function inBrackets(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}
