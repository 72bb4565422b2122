import { fstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessOwner } from '#core/run/run.ts';
import { randomBytes } from '#fast/random-bytes.ts';
import { failedAs, tryOr, WfError } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { DaemonClaim, DaemonToken, OwnDaemon } from '../../store.ts';
import { durableText } from '../disk/durable-text.ts';
import { makePrivateDirectory, storing } from '../disk/private-files.ts';
import {
  claimDirectory,
  lastOwnerPath,
  type Ownership,
  ownerOf,
  ownerSocketPath,
  type Processes,
  releaseOwner,
  thisOwner,
} from './owner.ts';

/** The daemon of a directory, if it listens at the address; any other program may do so, and must not get the token. */
export function findOwnDaemon(directory: string, address: string, isAlive: Processes['isAlive']): OwnDaemon | null {
  const holder = holderOf(directory);
  const listens = holder === null || !isAlive(holder) ? null : addressOf(directory, holder);
  const url = listens === null ? null : ownUrl(new URL(address), new URL(listens));
  const kept = url === null ? null : readDaemonToken(directory);
  return url === null || kept === null ? null : { url, token: kept.token };
}

/** Replaces `localhost` without TLS by the address of the daemon: another program may listen at `::1`. */
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

/** Makes this process the only daemon of a directory; replaces a dead one. Throws `conflict` or `storage`. */
export function claimDaemon(directory: string, processes: Processes) {
  const owner = thisOwner(processes);
  const address = durableText(join(directory, 'address.json'));
  const ownership = storing('claim', directory, () => {
    makePrivateDirectory(directory);
    return claim(directory, owner, processes);
  });
  removeFile(address.path);
  let stopListening = () => {};
  const daemonClaim: DaemonClaim = {
    tell: (url) => address.write(`${JSON.stringify({ pid: owner.pid, url })}\n`),
    loss: () => (isAtPath(ownership) ? null : lossOf(directory, processes)),
    release: () => {
      // Another daemon may have claimed the directory after it was replaced.
      if (isAtPath(ownership)) removeFile(address.path);
      releaseOwner(ownership);
      stopListening();
    },
  };
  /** Shows a daemon of another namespace that this one is alive, if the file system supports sockets. */
  const listen = async () => {
    const { listenAt } = await import('./owner-socket.ts');
    stopListening = await listenAt(ownerSocketPath(ownership.path), () => {}).catch(() => () => {});
  };
  return { ...daemonClaim, listen };
}

function lossOf(directory: string, processes: Processes): WfError {
  const holder = holderOf(directory);
  if (holder !== null && processes.isAlive(holder)) return alreadyThere(directory, processes);
  return new WfError('storage', `"${directory}" was removed, moved or replaced while the daemon was running`, {
    help: 'move the old directory back if it still exists, then start the daemon again',
  });
}

function isAtPath({ path, fd }: Ownership): boolean {
  const named = statSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return named?.ino === held.ino && named.dev === held.dev;
}

function claim(directory: string, owner: ProcessOwner, processes: Processes): Ownership {
  try {
    return claimDirectory(directory, owner, processes.isAlive);
  } catch (error) {
    if (failedAs(error, 'run-active')) throw alreadyThere(directory, processes, error);
    throw error;
  }
}

function alreadyThere(directory: string, { elsewhere }: Processes, cause?: WfError): WfError {
  const problem = (who: string, help: string) =>
    new WfError('conflict', `a daemon is already running for these runs: ${who}`, { help, cause });
  const holder = holderOf(directory);
  if (holder === null) return problem('another process', 'use that daemon');
  const url = addressOf(directory, holder);
  const who = `process ${holder.pid} on "${holder.host}"${url === null ? '' : `, at ${url}`}`;
  if (!elsewhere?.isElsewhere(holder)) return problem(who, `use that daemon, or stop it first: kill ${holder.pid}`);
  const path = lastOwnerPath(directory) ?? directory;
  const help = `use that daemon, or stop it there; if it is certainly gone, remove "${path}"`;
  return problem(`${who}, in another container or on another machine`, help);
}

/** Null if it has ended in the meantime. */
function holderOf(directory: string): ProcessOwner | null {
  return tryOr(null, () => ownerOf(directory));
}

function addressOf(directory: string, { pid }: ProcessOwner): string | null {
  return tryOr(null, () => {
    const text = durableText(join(directory, 'address.json')).read();
    const address = text === null ? null : (JSON.parse(text) as { readonly pid: number; readonly url: string });
    return address?.pid === pid ? address.url : null;
  });
}

/** The token; null if none was created. Throws a `WfError`: `usage` for a file without a token, `storage`. */
function readDaemonToken(directory: string): DaemonToken | null {
  const { path, read } = durableText(join(directory, 'token'));
  const text = read();
  if (text === null) return null;
  const token = text.trim();
  if (/^[\x21-\x7e]{16,}$/.test(token)) return { path, token };
  throw new WfError('usage', `"${path}" must hold one line of at least 16 ASCII characters`, {
    help: 'remove it: the next start of the daemon creates a new one',
  });
}

/** Returns the stored token. If there is none, stores 256 random bits in a file of mode 0600. */
export function keepDaemonToken(directory: string): DaemonToken {
  const found = readDaemonToken(directory);
  if (found !== null) return found;
  const { path, write } = durableText(join(directory, 'token'));
  const token = randomBytes(32).toString('base64url');
  write(`${token}\n`);
  return { path, token };
}
