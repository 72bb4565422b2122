import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Workflow } from '#core/workflow.ts';
import type { Source } from '#language/diagnostic.ts';
import { tryOr, WfError } from '#system/errors.ts';
import type { Snapshot } from '../store.ts';
import { readSealed, sealedLine, unlessMissing, writePrivate } from './disk/private-files.ts';
import { slug } from './logs/run-logs.ts';

/** The path of a run's events. Not joined by `join`, which takes a third of the time of looking at a journal. */
export function journalPath(directory: string): string {
  return `${directory}/journal.jsonl`;
}

/** The path of files that a run needs only while it is active. */
export function scratchPath(directory: string): string {
  return join(directory, 'scratch');
}

/** The path of a waiting run's launch data; it is removed with the run's other scratch files. */
export function launchPath(directory: string): string {
  return join(scratchPath(directory), 'launch.json');
}

/** The path of the last request to stop a run. */
export function stopPath(directory: string): string {
  return join(directory, 'stop.json');
}

/** The path of the output of a run's carrier. */
export function processLogPath(directory: string): string {
  return join(directory, 'process.log');
}

/** The directory of a run's logs below the `logDir` of its workflow. */
export function outsideLogs(logDir: string, workflow: string, runId: string): string {
  return join(logDir, slug(workflow, 'workflow'), runId);
}

/** The directory of a run's logs, given the directory outside that its snapshot names. */
export function logsPath(directory: string, outside: string | null): string {
  return outside ?? join(directory, 'logs');
}

/**
 * Whether a text is a valid run id, which is also a directory name: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with
 * a dot, which would hide it, nor with a dash, which a command would take for an option.
 */
export function isRunId(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text);
}

/** Throws a `WfError` `usage` for an invalid run id. */
export function checkRunId(text: string): void {
  if (isRunId(text)) return;
  throw new WfError('usage', `"${text}" is not a valid run id`, {
    help: 'An id is 1 to 128 characters of A-Z a-z 0-9 . _ - and starts with a letter, a digit or "_".',
  });
}

/** The creation time in a UUID of version 7, in milliseconds since 1970; null for any other id. */
export function timeOfId(runId: string): number | null {
  const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(runId);
  return uuid === null ? null : Number.parseInt(`${uuid[1]}${uuid[2]}`, 16);
}

const FORMAT = 1;

/** The content of `snapshot.json`. */
export type SnapshotFile = {
  readonly format: number;
  readonly runId: string;
  readonly workflow: Workflow;
  /** The absolute directory of the logs; null for the run's own. */
  readonly logs: string | null;
  /** Present: secrets in it and in the sources are masked as `***`. */
  readonly masked?: true;
};

/** Writes the snapshot of a run into its new directory. */
export function writeSnapshot(directory: string, snapshot: Snapshot, logs: string | null): void {
  const { sources, ...rest } = snapshot;
  const file: SnapshotFile = { format: FORMAT, ...rest, logs };
  writePrivate(snapshotPath(directory), sealedLine(file));
  writePrivate(sourcesPath(directory), sealedLine(sources));
}

/** Null if it is missing or damaged. Throws a `WfError` `storage` if a later version wrote it. */
export function readSnapshot(directory: string): SnapshotFile | null {
  const path = snapshotPath(directory);
  const file = unlessMissing(path, () => readSealed(path)) as SnapshotFile | null | undefined;
  if (file == null) return null;
  if (file.format === FORMAT) return file;
  throw new WfError('storage', `"${path}" was written by a later version of wf`, { help: 'Update wf to read it.' });
}

/** Null if they are missing or damaged. */
export function readSources(directory: string): readonly Source[] | null {
  const path = sourcesPath(directory);
  return (unlessMissing(path, () => readSealed(path)) as readonly Source[] | null | undefined) ?? null;
}

/** The path of the snapshot: its file time is the time of the run. */
export function snapshotPath(directory: string): string {
  return join(directory, 'snapshot.json');
}

/** The path of the texts that the workflow was read from. */
export function sourcesPath(directory: string): string {
  return join(directory, 'sources.json');
}

/** The attributes of a journal that change with each change of it. */
export type JournalStats = Pick<Stats, 'size' | 'mtimeMs'>;

/** A text that changes with each change of a run's journal. Null if there is no journal, or it cannot be examined. */
export function journalStamp(directory: string): string | null {
  const stats = journalStats(directory);
  return stats === null ? null : `${stats.size}.${stats.mtimeMs}`;
}

/** Null if there is no journal, or it cannot be examined. */
export function journalStats(directory: string): JournalStats | null {
  return tryOr(null, () => statSync(journalPath(directory), { throwIfNoEntry: false }) ?? null);
}

/** The creation time of a run, or a time at which it existed; null for a directory without a run. */
export function timeOfRun(runsDir: string, runId: string): number | null {
  const time = timeOfId(runId);
  if (time !== null) return time;
  const directory = join(runsDir, runId);
  try {
    return changedAt(snapshotPath(directory)) ?? changedAt(journalPath(directory));
  } catch {
    // The directory cannot be read: it is a run, and reading it reports the reason.
    return changedAt(directory);
  }
}

function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

/** Resolution of file times, in milliseconds: a second change within it may leave the time unchanged. */
const COARSEST_MS = 50;

/** Whether something changed so recently that another change may leave its time unchanged. */
export function mayHideChange(changedAt: number, now: number): boolean {
  return Math.abs(now - changedAt) < COARSEST_MS;
}

/** Never the same twice while a further change could leave the time unchanged; null if there is no directory. */
export function directoryStamp(directory: string): string | null {
  const changedAt = statSync(directory, { throwIfNoEntry: false })?.mtimeMs;
  if (changedAt === undefined) return null;
  return mayHideChange(changedAt, Date.now()) ? `${changedAt}.${performance.now()}` : String(changedAt);
}

/** Changes with the list of runs; null while a further change could be missed, because one was just made. */
export function listStamp(runsDir: string): string | null {
  const changedAt = statSync(runsDir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return mayHideChange(changedAt, Date.now()) ? null : String(changedAt);
}
