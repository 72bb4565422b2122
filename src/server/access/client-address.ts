import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The client that sent a request. */
export type Client = {
  readonly address: string;
  /** Whether the client uses TLS, as far as is known. */
  readonly isSecure: boolean;
};

/**
 * Creates a function that finds the client of a request: the peer of the connection, or, behind a trusted proxy, the
 * rightmost address of `X-Forwarded-For` that is not a trusted proxy. Addresses further left, and headers from other
 * peers, can be forged. The first protocol of `X-Forwarded-Proto` counts under the same condition; a client that forges it
 * deceives itself only. `trusted`: addresses and networks (`10.0.0.0/8`).
 */
export function clientFinder(trusted: readonly string[]): (request: IncomingMessage) => Client {
  const proxies = blockList(trusted);
  const isProxy = (address: string) => {
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
  return ({ socket, headers }) => {
    let client = plainAddress(socket.remoteAddress ?? '');
    const [protocol = ''] = isProxy(client) ? String(headers['x-forwarded-proto'] ?? '').split(',') : [];
    const isSecure = 'encrypted' in socket || protocol.trim().toLowerCase() === 'https';
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isProxy(client)) {
      const hop = plainAddress(hops.pop()?.trim() ?? '');
      if (isIP(hop) === 0) break;
      client = hop;
    }
    return { address: client, isSecure };
  };
}

function blockList(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of trusted) {
    const [address = '', prefix] = each.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Removes the brackets and the port that some proxies add, and converts an IPv4 address in IPv6 form to IPv4. */
function plainAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
