import type { IncomingMessage } from 'node:http';
import { HttpError } from '../reply/http-error.ts';

/** Under which names a server may be called. */
export type HostNames = {
  /** The port it listens on. */
  readonly port: number;
  /** The port that clients leave out: 443 with TLS, else 80. */
  readonly usualPort: number;
  /** Further names, in lower case, with a port or for any. */
  readonly allowed: readonly string[];
};

/**
 * Names and addresses that lead a browser to its own machine: no page from elsewhere can have its name stand for them. Their port
 * may be any, since `ssh -L 9000:localhost:8080` and port forwards of containers have clients use another one.
 */
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Refuses requests under a name that is not ours: a web page could have its own name point to this address and would then
 * be taken for the server's own page (DNS rebinding). The address that the connection came in at needs no configuration.
 * Throws an `HttpError`: 400 unless there is exactly one Host header, 421 for another name.
 */
export function checkHost({ headers, rawHeaders, socket }: IncomingMessage, names: HostNames): void {
  const given = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  const host = headers.host?.toLowerCase() ?? '';
  if (given !== 1 || !/^[^\s/?#@\\]+$/.test(host)) throw new HttpError(400, 'a request needs exactly one Host header');
  if (isAllowed(host, inBrackets(socket.localAddress ?? ''), names)) return;
  throw new HttpError(421, `this server is not called "${host}"`, {
    help: 'the names it may be called by, besides those of this machine, are set as "allowedHosts"',
  });
}

function isAllowed(host: string, address: string, { port, usualPort, allowed }: HostNames): boolean {
  const name = host.replace(/:\d*$/, '');
  if (allowed.includes(host) || allowed.includes(name)) return true;
  if (loopback.test(name)) return true;
  const given = host.slice(name.length + 1);
  return name === address && (given === '' ? usualPort : Number(given)) === port;
}

/** A peer's address as it stands in a Host header: `[::1]`; of an IPv4 address in IPv6 clothes only the former. */
function inBrackets(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}
