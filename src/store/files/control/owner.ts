import { linkSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Owner, ProcessIdentity } from '../../../core/run.ts';
import { WfError } from '../../../errors.ts';
import { writePrivate } from '../disk/private-files.ts';
import { seal, unseal } from '../disk/sealed.ts';
import { errorCode } from '../disk/storage-error.ts';

/** What the store asks about processes: it never looks at them itself. */
export type Processes = {
  /** Tells a process from any other that gets its number later; null when there is no such process. */
  readonly identify: (pid: number) => ProcessIdentity | null;
  readonly isAlive: (process: ProcessIdentity) => boolean;
};

/** This process as the owner of a run. */
export function thisOwner(identify: Processes['identify']): Owner {
  return { ...(identify(process.pid) ?? { pid: process.pid, startTime: null, boot: null }), host: hostname() };
}

/*
 * Who owns a run stands in the files `owner`, `owner.2`, `owner.3` and so on, of which the highest number counts. A
 * number is taken once and never becomes free again: a file that is removed and made anew could be taken by two
 * processes, one of which still acts on what it read in the old file. Who is done leaves its file empty.
 */

/** Writes the first owner into a directory that nobody else can see yet; answers the path of its file. */
export function writeFirstOwner(directory: string, owner: Owner): string {
  const path = ownerPath(directory, 1);
  writePrivate(path, content(owner));
  return path;
}

/**
 * Makes `owner` the owner of a run whose owner is dead or done; answers the path of its file. Of several processes that
 * try, one succeeds. Throws a `WfError` `run-active` when the owner lives.
 */
export function takeOver(directory: string, owner: Owner, isAlive: Processes['isAlive']): string {
  for (;;) {
    const last = lastNumber(directory);
    const holder = last === 0 ? null : readOwner(ownerPath(directory, last));
    if (holder !== null && isAlive(holder)) throw stillActive(holder);
    const path = ownerPath(directory, last + 1);
    if (take(path, owner)) return path;
  }
}

/** Who owns what lies in a directory, or died over it; null when nobody does, or nobody can tell. */
export function ownerIn(directory: string): Owner | null {
  const last = lastNumber(directory);
  return last === 0 ? null : readOwner(ownerPath(directory, last));
}

/** Whether somebody owns the run or died over it. */
export function hasOwner(directory: string): boolean {
  const last = lastNumber(directory);
  return last > 0 && statSync(ownerPath(directory, last)).size > 0;
}

/** Gives an ownership up; no error where the run has been removed meanwhile. */
export function releaseOwner(path: string): void {
  try {
    truncateSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function ownerPath(directory: string, number: number): string {
  return join(directory, number === 1 ? 'owner' : `owner.${number}`);
}

function content(owner: Owner): string {
  return `${seal(JSON.stringify(owner))}\n`;
}

/** 0 when nobody ever owned the run. */
function lastNumber(directory: string): number {
  const numbers = readdirSync(directory).map((name) => /^owner(?:\.(\d+))?$/.exec(name));
  return Math.max(0, ...numbers.map((match) => (match === null ? 0 : Number(match[1] ?? 1))));
}

/** Null for an empty file, and for a torn one: each was made in one piece, so the machine has gone down since. */
function readOwner(path: string): Owner | null {
  const value = unseal(readFileSync(path).subarray(0, -1));
  return typeof value === 'object' && value !== null && 'pid' in value ? (value as Owner) : null;
}

/** A hard link comes into being whole, and only where no file is: false when another process was faster. */
function take(path: string, owner: Owner): boolean {
  const draft = `${path}.${owner.pid}-${Math.random().toString(36).slice(2)}`;
  writePrivate(draft, content(owner));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function stillActive({ pid, host }: Owner): WfError {
  return new WfError('run-active', `the run is still going: process ${pid} on "${host}" owns it`);
}
