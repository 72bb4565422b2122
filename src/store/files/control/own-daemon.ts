import { runningDaemonUrl } from './daemon-claim.ts';
import { readDaemonToken } from './daemon-token.ts';
import type { Processes } from './owner.ts';

/** A daemon of this user and machine, and its token. */
export type OwnDaemon = { readonly url: string; readonly token: string };

/**
 * The daemon of a directory, if it is running, has created a token, and listens at the address; otherwise null. Any
 * other program on this machine may listen at an address too: it must not get the token.
 */
export function findOwnDaemon(directory: string, address: string, isAlive: Processes['isAlive']): OwnDaemon | null {
  const listens = runningDaemonUrl(directory, isAlive);
  const url = listens === null ? null : ownUrl(new URL(address), new URL(listens));
  const kept = url === null ? null : readDaemonToken(directory);
  return url === null || kept === null ? null : { url, token: kept.token };
}

/**
 * `localhost` may lead to another listener than the daemon (`::1` instead of `127.0.0.1`): without TLS, which would
 * detect that, the daemon's own address replaces it.
 */
function ownUrl(asked: URL, listens: URL): string | null {
  if (asked.protocol !== listens.protocol || asked.port !== listens.port) return null;
  const path = asked.pathname.replace(/\/$/, '');
  const own = listens.hostname === 'localhost' ? '127.0.0.1' : listens.hostname;
  if (asked.hostname === own) return `${asked.origin}${path}`;
  if (asked.hostname !== 'localhost' || !isLoopback(own)) return null;
  if (asked.protocol === 'https:') return `${asked.origin}${path}`;
  return `http://${own}${asked.port === '' ? '' : `:${asked.port}`}${path}`;
}

function isLoopback(host: string): boolean {
  return host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
