import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Owner } from '../../../core/run/run.ts';
import { WfError } from '../../../errors.ts';
import { removeFile } from '../../../remove-file.ts';
import { durableText } from '../disk/durable-text.ts';
import { errorCode, makePrivateDirectory, storing } from '../disk/private-files.ts';
import {
  lastOwnerPath,
  type Ownership,
  ownerOf,
  ownerSocketPath,
  type Processes,
  releaseOwner,
  takeOver,
  thisOwner,
} from './owner.ts';
import type { OwnerSocket } from './owner-socket.ts';

/** The claim of one daemon on the runs of a store: while it lives, no second daemon can start. */
export type DaemonClaim = {
  /** Stores the address of the daemon. */
  readonly tell: (url: string) => void;
  /**
   * Opens a socket by which a daemon of another namespace can tell that this one is alive, if the file system supports
   * sockets.
   */
  readonly listen: () => Promise<void>;
  readonly release: () => void;
};

/**
 * Makes this process the daemon of a directory, and creates the directory if missing. If several processes try, one
 * succeeds; a dead daemon is replaced. Throws a `WfError`: `conflict`, which names the running daemon, or `storage`.
 */
export function claimDaemon(directory: string, processes: Processes): DaemonClaim {
  const address = durableText(join(directory, 'address.json'));
  const owner = thisOwner(processes);
  return storing('claim', directory, () => {
    makePrivateDirectory(directory);
    const ownership = claim(directory, owner, processes);
    let socket: OwnerSocket | null = null;
    removeFile(address.path);
    return {
      tell: (url) => address.write(`${JSON.stringify({ pid: owner.pid, url })}\n`),
      listen: async () => {
        const { listenAt } = await import('./owner-socket.ts');
        socket = await listenAt(ownerSocketPath(ownership.path), () => {}).catch(() => null);
      },
      release: () => {
        removeFile(address.path);
        releaseOwner(ownership);
        socket?.close();
      },
    };
  });
}

function claim(directory: string, owner: Owner, processes: Processes): Ownership {
  for (;;) {
    try {
      const ownership = takeOver(directory, owner, processes.isAlive);
      if (isNewest(directory, ownership.path)) return ownership;
      releaseOwner(ownership);
      removeFile(ownership.path);
    } catch (error) {
      if (error instanceof WfError && error.code === 'run-active') throw alreadyThere(directory, error, processes);
      // A faster daemon has removed the file that was about to be read or linked.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/**
 * Removes the files of earlier daemons. A process that read the directory before this and links after it can take a
 * number a second time; but then a higher number exists, and that process gives way.
 */
function isNewest(directory: string, path: string): boolean {
  const names = readdirSync(directory).filter((name) => name.startsWith('owner'));
  const own = numberOf(basename(path));
  if (names.some((name) => numberOf(name) > own)) return false;
  for (const name of names) if (name !== basename(path)) removeFile(join(directory, name));
  return true;
}

/** 0 for a draft. */
function numberOf(name: string): number {
  const match = /^owner(?:\.(\d+))?$/.exec(name);
  return match === null ? 0 : Number(match[1] ?? 1);
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
export function runningDaemonUrl(directory: string, isAlive: Processes['isAlive']): string | null {
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
