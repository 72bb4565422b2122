import {
  closeSync,
  ftruncateSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Owner, ProcessIdentity } from '../../../core/run/run.ts';
import { WfError } from '../../../errors.ts';
import { errorCode, openPrivate } from '../disk/private-files.ts';
import { seal, unseal } from '../disk/sealed.ts';

/** What the store asks about processes: it never looks at them itself. */
export type Processes = {
  /** Tells a process from any other that gets its number later; null when there is no such process. */
  readonly identify: (pid: number) => ProcessIdentity | null;
  /** False only for a process that is gone for certain. */
  readonly isAlive: (process: ProcessIdentity) => boolean;
  /** Absent: no process is of another place. */
  readonly elsewhere?: ElsewhereProcesses;
};

/** Processes of other namespaces, boots and machines, of which the number tells nothing here. */
export type ElsewhereProcesses = {
  readonly here: Pick<Owner, 'boot' | 'machine'>;
  readonly isElsewhere: (process: ProcessIdentity) => boolean;
  /** From now on `isAlive` is false for it. */
  readonly declareGone: (process: ProcessIdentity) => void;
};

/** This process as the owner of a run. */
export function thisOwner({ identify, elsewhere }: Pick<Processes, 'identify' | 'elsewhere'>): Owner {
  const identity = identify(process.pid) ?? { pid: process.pid, startTime: null, boot: null };
  return { ...identity, host: hostname(), machine: elsewhere?.here.machine ?? null };
}

/*
 * Who owns a run stands in the files `owner`, `owner.2`, `owner.3` and so on, of which the highest number counts. A
 * number is taken once and never becomes free again: a file that is removed and made anew could be taken by two
 * processes, one of which still acts on what it read in the old file. Who is done leaves its file empty.
 *
 * The owner has its file open for writing from before it gets its name until it gives it up or dies, which the kernel can be asked
 * about from any namespace.
 */

/** The hold of a process on what lies in a directory. */
export type Ownership = { readonly path: string; readonly fd: number };

/** Writes the first owner into a directory that nobody else can see yet. */
export function writeFirstOwner(directory: string, owner: Owner): Ownership {
  return write(ownerPath(directory, 1), owner);
}

/**
 * Makes `owner` the owner of a run whose owner is dead or done. Of several processes that try, one succeeds. Throws a
 * `WfError` `run-active` when the owner lives, or cannot be judged.
 */
export function takeOver(directory: string, owner: Owner, isAlive: Processes['isAlive']): Ownership {
  for (;;) {
    const last = lastNumber(directory);
    const holder = last === 0 ? null : readOwner(ownerPath(directory, last));
    if (holder !== null && isAlive(holder)) throw stillActive(holder);
    const taken = take(ownerPath(directory, last + 1), owner);
    if (taken !== null) return taken;
  }
}

/** Who owns what lies in a directory, or died over it; null when nobody does, or nobody can tell. */
export function ownerIn(directory: string): Owner | null {
  const path = lastOwnerPath(directory);
  return path === null ? null : readOwner(path);
}

/** The file of the last owner; null where there was none. */
export function lastOwnerPath(directory: string): string | null {
  const last = lastNumber(directory);
  return last === 0 ? null : ownerPath(directory, last);
}

/** Whether somebody owns the run or died over it. */
export function hasOwner(directory: string): boolean {
  const path = lastOwnerPath(directory);
  return path !== null && statSync(path).size > 0;
}

/** Gives an ownership up; it may have been removed meanwhile. */
export function releaseOwner({ fd }: Ownership): void {
  try {
    ftruncateSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Where the owner with this file listens. */
export function ownerSocketPath(ownerPath: string): string {
  return `${ownerPath}.sock`;
}

function ownerPath(directory: string, number: number): string {
  return join(directory, number === 1 ? 'owner' : `owner.${number}`);
}

function write(path: string, owner: Owner): Ownership {
  const fd = openPrivate(path, 'wx');
  try {
    writeFileSync(fd, `${seal(JSON.stringify(owner))}\n`);
    return { path, fd };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** 0 when nobody ever owned the run. */
function lastNumber(directory: string): number {
  const numbers = readdirSync(directory).map((name) => /^owner(?:\.(\d+))?$/.exec(name));
  return Math.max(0, ...numbers.map((match) => (match === null ? 0 : Number(match[1] ?? 1))));
}

/** Null for an empty file, and for a torn one: each was made in one piece, so the machine has gone down since. */
export function readOwner(path: string): Owner | null {
  const value = unseal(readFileSync(path).subarray(0, -1));
  return typeof value === 'object' && value !== null && 'pid' in value ? (value as Owner) : null;
}

/** A hard link comes into being whole, and only where no file is: null when another process was faster. */
function take(path: string, owner: Owner): Ownership | null {
  const draft = `${path}.${owner.pid}-${Math.random().toString(36).slice(2)}`;
  const { fd } = write(draft, owner);
  try {
    linkSync(draft, path);
    return { path, fd };
  } catch (error) {
    closeSync(fd);
    if (errorCode(error) === 'EEXIST') return null;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function stillActive({ pid, host }: Owner): WfError {
  return new WfError('run-active', `the run is still going: process ${pid} on "${host}" owns it`);
}
