import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { errorCode, tryOr, unlessRefused } from '#system/errors.ts';
import { removeDirectory } from '#system/files.ts';
import { artifactsPath, stagedPath } from '../artifacts/artifact-files.ts';
import { logFilePattern } from '../logs/run-logs.ts';
import { outsideLogs, readSnapshot, type SnapshotFile } from '../run-directory.ts';

/** Opens a directory itself, never the target of a link. */
export const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The disk usage of a run's logs outside its directory, and of files that it has kept there, in bytes; 0 if it has none. */
export function outsideLogsUsage(directory: string): number {
  const logs = outsideLogsOf(directory);
  return logs === null ? 0 : withDirectory(logs.path, 0, (path) => usage(path, logFiles(path, logs.snapshot)));
}

function usage(path: string, files: readonly string[]): number {
  return total(path, files) + keptIn(path).reduce((sum, kept) => sum + diskUsage(kept), 0);
}

/** The directories of artifacts that workers of an engine have kept. */
function keptIn(path: string): readonly string[] {
  return [artifactsPath(path), stagedPath(path)];
}

/** The disk usage of the artifacts of a run beside its logs outside, in bytes. */
export function outsideArtifactsUsage(directory: string): number {
  const logs = outsideLogsOf(directory);
  return logs === null ? 0 : withDirectory(logs.path, 0, (path) => usage(path, []));
}

/** Removes these artifacts; returns the freed bytes. */
export function removeOutsideArtifacts(directory: string): number {
  const logs = outsideLogsOf(directory);
  return logs === null ? 0 : withDirectory(logs.path, 0, removeKept);
}

function removeKept(path: string): number {
  const bytes = usage(path, []);
  for (const kept of keptIn(path)) tryOr(null, () => removeDirectory(kept));
  return bytes;
}

/**
 * Removes the logs of a run, whose directory is already in the trash, outside its directory; returns the freed bytes.
 * Only files named after its steps, and artifacts, in the directory named after the run, are removed; that directory is removed if it
 * becomes empty. Nothing is removed if a directory was replaced by a link, or a new run has taken the id since.
 */
export function removeOutsideLogs(directory: string, runsDir: string): number {
  const logs = outsideLogsOf(directory);
  if (logs === null || existsSync(join(runsDir, logs.snapshot.runId))) return 0;
  const bytes = withDirectory(logs.path, 0, (path) => {
    const files = logFiles(path, logs.snapshot);
    const taken = total(path, files);
    for (const name of files) removeFile(join(path, name));
    return taken + removeKept(path);
  });
  // Fails if it contains files of others, or is gone.
  tryOr(null, () => rmdirSync(logs.path));
  return bytes;
}

/** Only if it has the names that every run uses. */
function outsideLogsOf(directory: string) {
  const snapshot = unlessRefused(null, () => readSnapshot(directory));
  const path = snapshot?.logs ?? null;
  if (snapshot === null || path === null || !isAbsolute(path)) return null;
  const isOwn = outsideLogs(dirname(dirname(path)), snapshot.workflow.name, snapshot.runId) === path;
  return isOwn ? { path, snapshot } : null;
}

/** Works in a directory through its descriptor, if possible: replacing a directory above has no effect. */
function withDirectory<T>(path: string, otherwise: T, work: (path: string) => T): T {
  let parent: number | null = null;
  let own: number | null = null;
  try {
    parent = openSync(dirname(path), asDirectory);
    own = openSync(join(throughDescriptor(parent, dirname(path)), basename(path)), asDirectory);
    return work(throughDescriptor(own, path));
  } catch (error) {
    if (errorCode(error) === '') throw error;
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

/** Removes a link itself, not its target; keeps a directory. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EISDIR' && errorCode(error) !== 'EPERM') throw error;
  }
}

const BLOCK_BYTES = 512;

/** The disk usage in bytes of a file, or of a directory with its content; links are not followed. */
export function diskUsage(path: string): number {
  const stats = tryOr(null, () => lstatSync(path));
  if (stats === null) return 0;
  // Unreadable directories count as empty.
  const names = stats.isDirectory() ? tryOr([], () => readdirSync(path)) : [];
  return diskSpace(stats) + total(path, names);
}

/** The disk space of one file, or of a directory without its content, in bytes. */
export function diskSpace({ blocks }: Pick<Stats, 'blocks'>): number {
  return blocks * BLOCK_BYTES;
}
