import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The address of the client that has sent a request. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Finds the client of a request. The peer of the connection is the client, unless it is a trusted proxy: then the last address of
 * `X-Forwarded-For` is, from right to left, that is no trusted proxy itself. Whatever stands further left, or comes by another
 * peer, could be written by anyone. `trusted`: addresses and networks (`10.0.0.0/8`).
 */
export function clientAddressFinder(trusted: readonly string[]): ClientAddress {
  const proxies = blockList(trusted);
  const isProxy = (address: string) => {
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
  return ({ socket, headers }) => {
    let client = plainAddress(socket.remoteAddress ?? '');
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isProxy(client)) {
      const hop = plainAddress(hops.pop()?.trim() ?? '');
      if (isIP(hop) === 0) break;
      client = hop;
    }
    return client;
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

/** Without the brackets and the port that some proxies add; an IPv4 address in IPv6 form becomes IPv4. */
function plainAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
