import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { Processes } from '../control/owner.ts';
import { errorCode, keepOwnerBits, makePrivateDirectory } from './private-files.ts';

/**
 * A hidden directory in which a run is assembled before it gets its name. Its own name identifies the process, which
 * may die before it has written anything.
 */
export type Staging = {
  readonly directory: string;
  /** The directories that were created for it, outermost first. */
  readonly made: readonly string[];
};

/** Minimum age of leftovers of dead processes, and of processes that cannot be checked from here. */
const youngestLeftoverMs = 10_000;
const youngestUnknownMs = 3_600_000;

/** Opens a staging directory below `runsDir` and removes those of dead processes. */
export function openStaging(runsDir: string, maker: ProcessIdentity, isAlive: Processes['isAlive']): Staging {
  const parent = join(runsDir, '.new');
  const made = prepareParent(parent, isAlive);
  const { pid, startTime, boot, namespace } = maker;
  const directory = mkdtempSync(join(parent, `${pid}_${startTime ?? ''}_${boot ?? ''}_${namespace ?? ''}_`));
  keepOwnerBits(directory);
  return { directory, made };
}

function prepareParent(parent: string, isAlive: Processes['isAlive']): readonly string[] {
  try {
    for (const name of readdirSync(parent)) removeLeftover(join(parent, name), name, isAlive);
    return [];
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return makePrivateDirectory(parent);
  }
}

function removeLeftover(path: string, name: string, isAlive: Processes['isAlive']): void {
  const maker = makerOf(name);
  if (maker === null) return;
  const made = statSync(path, { throwIfNoEntry: false });
  if (made === undefined || Date.now() - made.mtimeMs < youngestLeftoverMs) return;
  if (isAlive(maker) && Date.now() - made.mtimeMs < youngestUnknownMs) return;
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It belongs to another user: it stays, and is no reason to refuse a run.
  }
}

function makerOf(name: string): ProcessIdentity | null {
  const match = /^(\d+)_(\d*)_([^_]*)_(?:([^_]*)_)?/.exec(name);
  if (match === null) return null;
  const [, pid, startTime, boot, namespace] = match;
  const numbers = { pid: Number(pid), startTime: startTime ? Number(startTime) : null };
  return { ...numbers, boot: boot || null, namespace: namespace || null };
}
