import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Owner } from '../../../core/run.ts';
import { WfError } from '../../../errors.ts';
import { durableText } from '../disk/durable-text.ts';
import { makePrivateDirectory } from '../disk/private-files.ts';
import { errorCode, storing } from '../disk/storage-error.ts';
import { ownerIn, type Processes, releaseOwner, takeOver, thisOwner } from './owner.ts';

/** The hold of one daemon on the runs of a store: there is no second one as long as it lives. */
export type DaemonClaim = {
  /** Leaves word where it can be reached. */
  readonly tell: (url: string) => void;
  readonly release: () => void;
};

/**
 * Makes this process the daemon of a directory, which is made where it is missing. Of several processes that try one succeeds;
 * a daemon that has died is no obstacle. Throws a `WfError`: `conflict`, which names the daemon there is, or `storage`.
 */
export function claimDaemon(directory: string, processes: Processes): DaemonClaim {
  const address = durableText(join(directory, 'address.json'));
  const owner = thisOwner(processes.identify);
  return storing('claim', directory, () => {
    makePrivateDirectory(directory);
    const path = claim(directory, owner, processes.isAlive);
    rmSync(address.path, { force: true });
    return {
      tell: (url) => address.write(`${JSON.stringify({ pid: owner.pid, url })}\n`),
      release: () => {
        rmSync(address.path, { force: true });
        releaseOwner(path);
      },
    };
  });
}

/** Answers the path of the file that says so. */
function claim(directory: string, owner: Owner, isAlive: Processes['isAlive']): string {
  for (;;) {
    try {
      const path = takeOver(directory, owner, isAlive);
      if (isNewest(directory, path)) return path;
      rmSync(path, { force: true });
    } catch (error) {
      if (error instanceof WfError && error.code === 'run-active') throw alreadyThere(directory, error);
      // What it was about to read or to link was tidied away by a daemon that was faster.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/**
 * Removes what daemons before have left. So a number can be taken a second time, by who has read the directory before that and
 * links after it; but there is a higher one then, and who finds that gives way.
 */
function isNewest(directory: string, path: string): boolean {
  const names = readdirSync(directory).filter((name) => name.startsWith('owner'));
  const own = numberOf(basename(path));
  if (names.some((name) => numberOf(name) > own)) return false;
  for (const name of names) if (name !== basename(path)) rmSync(join(directory, name), { force: true });
  return true;
}

/** 0 for the draft of one. */
function numberOf(name: string): number {
  const match = /^owner(?:\.(\d+))?$/.exec(name);
  return match === null ? 0 : Number(match[1] ?? 1);
}

function alreadyThere(directory: string, cause: WfError): WfError {
  const holder = holderOf(directory);
  const who = holder === null ? 'another process' : `process ${holder.pid} on "${holder.host}"`;
  const url = holder === null ? null : addressOf(directory, holder);
  const help = `ask that one${holder === null ? '' : `, or end it first: kill ${holder.pid}`}`;
  const where = url === null ? '' : `, at ${url}`;
  return new WfError('conflict', `a daemon has these runs already: ${who}${where}`, { help, cause });
}

/** The address of the daemon that has a directory; null where none is running, or none listens yet. */
export function runningDaemonUrl(directory: string, isAlive: Processes['isAlive']): string | null {
  const holder = holderOf(directory);
  return holder === null || !isAlive(holder) ? null : addressOf(directory, holder);
}

/** Null when it is gone by now. */
function holderOf(directory: string): Owner | null {
  try {
    return ownerIn(directory);
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
