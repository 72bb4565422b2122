import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '#core/run/run.ts';
import { WfError } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { DurableText } from '../../store.ts';
import { durableText } from '../disk/durable-text.ts';
import { makePrivateDirectory, storing } from '../disk/private-files.ts';
import {
  claimDirectory,
  lastOwnerPath,
  type Ownership,
  ownerOf,
  ownerSocketPath,
  type Processes,
  readOwner,
  releaseOwner,
  thisOwner,
} from './owner.ts';
import type { OwnerSocket } from './owner-socket.ts';

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

/** The claim of one daemon on the runs of a store: while it lives, no second daemon can start. */
export type DaemonClaim = {
  /** Stores the address of the daemon. */
  readonly tell: (url: string) => void;
  /**
   * Opens a socket by which a daemon of another namespace can tell that this one is alive, if the file system supports
   * sockets.
   */
  readonly listen: () => Promise<void>;
  /**
   * Claims the directory again if it was removed or replaced since; resolves to whether that was so. Rejects with a
   * `WfError`: `conflict` if another daemon has claimed it meanwhile, or `storage`.
   */
  readonly renew: () => Promise<boolean>;
  readonly release: () => void;
};

/**
 * Makes this process the daemon of a directory, and creates the directory if missing. If several processes try, one
 * succeeds; a dead daemon is replaced. Throws a `WfError`: `conflict`, which names the running daemon, or `storage`.
 */
export function claimDaemon(directory: string, processes: Processes): DaemonClaim {
  return storing('claim', directory, () => {
    makePrivateDirectory(directory);
    return new LocalClaim(directory, processes);
  });
}

class LocalClaim implements DaemonClaim {
  readonly #directory: string;
  readonly #processes: Processes;
  readonly #owner: Owner;
  readonly #address: DurableText;
  #ownership: Ownership;
  #socket: OwnerSocket | null = null;
  #url: string | null = null;

  constructor(directory: string, processes: Processes) {
    this.#directory = directory;
    this.#processes = processes;
    this.#owner = thisOwner(processes);
    this.#address = durableText(join(directory, 'address.json'));
    this.#ownership = claim(directory, this.#owner, processes);
    removeFile(this.#address.path);
  }

  readonly tell = (url: string): void => {
    this.#url = url;
    this.#address.write(`${JSON.stringify({ pid: this.#owner.pid, url })}\n`);
  };

  readonly listen = async (): Promise<void> => {
    const { listenAt } = await import('./owner-socket.ts');
    this.#socket = await listenAt(ownerSocketPath(this.#ownership.path), () => {}).catch(() => null);
  };

  readonly renew = async (): Promise<boolean> => {
    if (isInPlace(this.#ownership)) return false;
    storing('claim', this.#directory, () => {
      makePrivateDirectory(this.#directory);
      const ownership = this.#ownershipLeft() ?? claim(this.#directory, this.#owner, this.#processes);
      closeSync(this.#ownership.fd);
      this.#ownership = ownership;
    });
    if (this.#url !== null) this.tell(this.#url);
    this.#socket?.close();
    await this.listen();
    return true;
  };

  readonly release = (): void => {
    // Another daemon may have claimed the directory after it was replaced.
    if (isInPlace(this.#ownership)) removeFile(this.#address.path);
    releaseOwner(this.#ownership);
    this.#socket?.close();
  };

  /** The file of this process in a directory that was moved away and is back. */
  #ownershipLeft(): Ownership | null {
    const path = lastOwnerPath(this.#directory);
    const holder = path === null ? null : readOwner(path);
    const { pid, startTime, boot } = this.#owner;
    const isOwn = holder !== null && holder.pid === pid && holder.startTime === startTime && holder.boot === boot;
    return path !== null && isOwn ? { path, fd: openSync(path, 'r+') } : null;
  }
}

/** Whether the file still has its name. */
function isInPlace({ path, fd }: Ownership): boolean {
  const named = statSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return named?.ino === held.ino && named.dev === held.dev;
}

function claim(directory: string, owner: Owner, processes: Processes): Ownership {
  try {
    return claimDirectory(directory, owner, processes.isAlive);
  } catch (error) {
    if (error instanceof WfError && error.code === 'run-active') throw alreadyThere(directory, error, processes);
    throw error;
  }
}

function alreadyThere(directory: string, cause: WfError, { elsewhere }: Processes): WfError {
  const holder = holderOf(directory);
  const who = holder === null ? 'another process' : `process ${holder.pid} on "${holder.host}"`;
  const url = holder === null ? null : addressOf(directory, holder);
  const isElsewhere = holder !== null && elsewhere?.isElsewhere(holder) === true;
  const where = `${url === null ? '' : `, at ${url}`}${isElsewhere ? ', in another container or on another machine' : ''}`;
  const help = `use that daemon${holder === null ? '' : `, or ${isElsewhere ? wayOut(directory) : `stop it first: kill ${holder.pid}`}`}`;
  return new WfError('conflict', `a daemon is already running for these runs: ${who}${where}`, { help, cause });
}

/** The address of the daemon of a directory; null if none is running, or it does not listen yet. */
function runningDaemonUrl(directory: string, isAlive: Processes['isAlive']): string | null {
  const holder = holderOf(directory);
  return holder === null || !isAlive(holder) ? null : addressOf(directory, holder);
}

function wayOut(directory: string): string {
  return `stop it there; if it is certainly gone, remove "${lastOwnerPath(directory) ?? directory}"`;
}

/** Null if it has ended in the meantime. */
function holderOf(directory: string): Owner | null {
  try {
    return ownerOf(directory);
  } catch {
    return null;
  }
}

function addressOf(directory: string, { pid }: Owner): string | null {
  try {
    const text = durableText(join(directory, 'address.json')).read();
    const address = text === null ? null : (JSON.parse(text) as { readonly pid: number; readonly url: string });
    return address?.pid === pid ? address.url : null;
  } catch {
    return null;
  }
}

/** A token and the file that holds it. */
export type DaemonToken = { readonly path: string; readonly token: string };

/**
 * The token of the daemon of a directory; null if none was created. Throws a `WfError`: `usage` for a file without a
 * token, `storage` for a file that cannot be read.
 */
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

/** Returns the stored token. If there is none, stores `token` (by default 256 random bits) in a file of mode 0600. */
export function keepDaemonToken(directory: string, token = randomBytes(32).toString('base64url')): DaemonToken {
  const found = readDaemonToken(directory);
  if (found !== null) return found;
  const { path, write } = durableText(join(directory, 'token'));
  write(`${token}\n`);
  return { path, token };
}
