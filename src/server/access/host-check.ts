import type { IncomingMessage } from 'node:http';
import { HttpError } from '../route.ts';

/** The host names that a server accepts. */
export type HostNames = {
  /** The port on which the server listens. */
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
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

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
  if (loopback.test(name)) return true;
  const given = host.slice(name.length + 1);
  return name === address && (given === '' ? usualPort : Number(given)) === port;
}

/** Formats an address as in a Host header: `[::1]`; an IPv4 address in IPv6 form becomes IPv4. */
function inBrackets(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}
