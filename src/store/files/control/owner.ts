import { closeSync, ftruncateSync, linkSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ProcessIdentity, ProcessOwner } from '#core/run/run.ts';
import { hostName } from '#fast/os.ts';
import { errorCode, WfError } from '#system/errors.ts';
import { removeIfPossible } from '#system/files.ts';
import { openPrivate, readSealed, sealedLine } from '../disk/private-files.ts';

/** The access of the store to processes, which it never inspects itself. */
export type Processes = {
  /** Identifies a process even after its pid is reused; null if there is no such process. */
  readonly identify: (pid: number) => ProcessIdentity | null;
  /** False only if the process is certainly gone. */
  readonly isAlive: (process: ProcessIdentity) => boolean;
  /** Absent: all processes belong to this namespace. */
  readonly elsewhere?: ElsewhereProcesses;
};

/** Processes of other namespaces, boots and machines, for which the pid means nothing here. */
export type ElsewhereProcesses = {
  readonly here: Pick<ProcessOwner, 'boot' | 'machine'>;
  readonly isElsewhere: (process: ProcessIdentity) => boolean;
  /** Makes `isAlive` return false for the process. */
  readonly declareGone: (process: ProcessIdentity) => void;
};

/** This process as the owner of a run. */
export function thisOwner({ identify, elsewhere }: Pick<Processes, 'identify' | 'elsewhere'>): ProcessOwner {
  const identity = identify(process.pid) ?? { pid: process.pid, startTime: null, boot: null };
  return { ...identity, host: hostName(), machine: elsewhere?.here.machine ?? null };
}

/*
 * The owner of a run is written in the files `owner`, `owner.2`, `owner.3` and so on; the highest number counts. A number
 * is used once: if a file were removed and created again, two processes could take it, one of which still acts on the
 * content of the old file. An owner that gives the run up empties its file.
 *
 * The owner keeps its file open for writing, from before the file gets its name until the owner gives it up or dies. The
 * kernel reports this to any namespace.
 */

/** The hold of a process on a directory's content. */
export type Ownership = { readonly path: string; readonly fd: number };

/** Writes the first owner into a directory that no other process can see yet. */
export function writeFirstOwner(directory: string, owner: ProcessOwner): Ownership {
  return write(ownerPath(directory, 1), owner);
}

/**
 * Makes `owner` the owner of a run whose owner is dead or has given it up; of several processes one succeeds. Throws a
 * `WfError` `run-active` if the owner is alive, or cannot be judged.
 */
export function takeOver(directory: string, owner: ProcessOwner, isAlive: Processes['isAlive']): Ownership {
  for (;;) {
    const last = lastNumber(readdirSync(directory));
    const holder = last === 0 ? null : readOwner(ownerPath(directory, last));
    if (holder !== null && isAlive(holder)) throw stillActive(holder);
    const taken = take(ownerPath(directory, last + 1), owner);
    if (taken !== null) return taken;
  }
}

/** Takes over a directory that has many owners in the course of time: the files of earlier ones are removed. */
export function claimDirectory(directory: string, owner: ProcessOwner, isAlive: Processes['isAlive']): Ownership {
  for (;;) {
    try {
      const ownership = takeOver(directory, owner, isAlive);
      if (isNewest(directory, ownership.path)) return ownership;
      releaseOwner(ownership);
      removeIfPossible(ownership.path);
    } catch (error) {
      // A faster process has removed the file that was about to be read or linked.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/**
 * Removes the files of earlier owners. A process that read the directory before this and links after it can take a
 * number a second time; but then a higher number exists, and that process gives way.
 */
function isNewest(directory: string, path: string): boolean {
  const names = readdirSync(directory).filter((name) => name.startsWith('owner'));
  const own = numberOf(basename(path));
  if (names.some((name) => numberOf(name) > own)) return false;
  for (const name of names) if (name !== basename(path)) removeIfPossible(join(directory, name));
  return true;
}

/** 0 for a draft. */
function numberOf(name: string): number {
  const match = /^owner(?:\.(\d+))?$/.exec(name);
  return match === null ? 0 : Number(match[1] ?? 1);
}

/** The owner of a directory's content, alive or dead; null if there is none, or it cannot be read. */
export function ownerOf(directory: string): ProcessOwner | null {
  const path = lastOwnerPath(directory);
  return path === null ? null : readOwner(path);
}

/** The file of the last owner; null if there was none. */
export function lastOwnerPath(directory: string): string | null {
  const last = lastNumber(readdirSync(directory));
  return last === 0 ? null : ownerPath(directory, last);
}

/** Whether the run in a directory with these entries has an owner, alive or dead; false if it was removed since. */
export function hasOwner(directory: string, names: readonly string[]): boolean {
  const last = lastNumber(names);
  return last > 0 && (statSync(ownerPath(directory, last), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Gives up an ownership, whose file may have been removed in the meantime. */
export function releaseOwner({ fd }: Ownership): void {
  try {
    ftruncateSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The socket of the owner with this file. */
export function ownerSocketPath(ownerPath: string): string {
  return `${ownerPath}.sock`;
}

function ownerPath(directory: string, number: number): string {
  return join(directory, number === 1 ? 'owner' : `owner.${number}`);
}

/** Leaves no file if the disk refuses it. */
function write(path: string, owner: ProcessOwner): Ownership {
  const fd = openPrivate(path, 'wx');
  try {
    writeFileSync(fd, sealedLine(owner));
    return { path, fd };
  } catch (error) {
    closeSync(fd);
    removeIfPossible(path);
    throw error;
  }
}

/** 0 if the run never had an owner. */
function lastNumber(names: readonly string[]): number {
  return names.reduce((last, name) => (name.startsWith('owner') ? Math.max(last, numberOf(name)) : last), 0);
}

/** Null for an empty file, and for a torn one: files are written as a whole, so the machine has crashed since. */
export function readOwner(path: string): ProcessOwner | null {
  const value = readSealed(path);
  return typeof value === 'object' && value !== null && 'pid' in value ? (value as ProcessOwner) : null;
}

/** A hard link appears at once, and only if there is no file: null if another process was faster. */
function take(path: string, owner: ProcessOwner): Ownership | null {
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
    removeIfPossible(draft);
  }
}

function stillActive({ pid, host }: ProcessOwner): WfError {
  return new WfError('run-active', `the run is still running: process ${pid} on "${host}" owns it`);
}
