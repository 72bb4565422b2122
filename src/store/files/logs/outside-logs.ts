import { closeSync, constants, existsSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { WfError } from '../../../errors.ts';
import { errorCode } from '../disk/private-files.ts';
import { diskUsage } from '../removal/disk-usage.ts';
import { outsideLogs } from '../run-directory.ts';
import { readSnapshot, type SnapshotFile } from '../snapshot-file.ts';
import { logFilePattern } from './run-logs.ts';

const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** What the logs of a run outside of its directory take up, in bytes of disk; 0 where it has none. */
export function outsideLogsUsage(directory: string): number {
  const logs = outsideLogsOf(directory);
  return logs === null ? 0 : withDirectory(logs.path, 0, (path) => total(path, logFiles(path, logs.snapshot)));
}

/**
 * Removes the logs that a run, whose directory now lies in the trash, has written outside of it; answers how many bytes of
 * disk they took. These are the files that are named for its steps, in the directory that is named for the run; that
 * directory goes when nothing else is in it. Nothing is touched where a link stands in the place of a directory, and where a
 * new run has taken the id since.
 */
export function removeOutsideLogs(directory: string, runsDir: string): number {
  const logs = outsideLogsOf(directory);
  if (logs === null || existsSync(join(runsDir, logs.snapshot.runId))) return 0;
  const bytes = withDirectory(logs.path, 0, (path) => {
    const files = logFiles(path, logs.snapshot);
    const taken = total(path, files);
    for (const name of files) removeFile(join(path, name));
    return taken;
  });
  removeIfEmpty(logs.path);
  return bytes;
}

type OutsideLogs = { readonly path: string; readonly snapshot: SnapshotFile };

/** Only where it has the names that every run gives to it. */
function outsideLogsOf(directory: string): OutsideLogs | null {
  const snapshot = readIfPossible(directory);
  const path = snapshot?.logs ?? null;
  if (snapshot === null || path === null || !isAbsolute(path)) return null;
  const isOwn = outsideLogs(dirname(dirname(path)), snapshot.workflow.name, snapshot.runId) === path;
  return isOwn ? { path, snapshot } : null;
}

function readIfPossible(directory: string): SnapshotFile | null {
  try {
    return readSnapshot(directory);
  } catch (error) {
    if (error instanceof WfError) return null;
    throw error;
  }
}

/**
 * Holds on to the directory while it is worked in: by a path through its descriptor, where the system has that, nothing that
 * is put in the place of a directory on the way to it meanwhile matters.
 */
function withDirectory<T>(path: string, otherwise: T, work: (path: string) => T): T {
  let parent: number | null = null;
  let own: number | null = null;
  try {
    parent = openSync(dirname(path), asDirectory);
    own = openSync(join(throughDescriptor(parent, dirname(path)), basename(path)), asDirectory);
    return work(throughDescriptor(own, path));
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return otherwise;
  } finally {
    if (own !== null) closeSync(own);
    if (parent !== null) closeSync(parent);
  }
}

function throughDescriptor(fd: number, path: string): string {
  const through = `/proc/self/fd/${fd}`;
  return existsSync(through) ? through : path;
}

function logFiles(directory: string, { workflow }: SnapshotFile): readonly string[] {
  const isLog = logFilePattern(workflow);
  return readdirSync(directory).filter(isLog);
}

function total(directory: string, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + diskUsage(join(directory, name)), 0);
}

/** A link is removed, not what it leads to; a directory stays. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EISDIR' && errorCode(error) !== 'EPERM') throw error;
  }
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody else keeps something there, or it is gone.
  }
}
