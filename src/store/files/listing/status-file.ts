import { closeSync, constants, fstatSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FinishedStatus } from '#core/run/run.ts';
import type { RunStatuses } from '../../store.ts';
import { openPrivate } from '../disk/private-files.ts';
import { type JournalStats, journalStats } from '../journal/journal-stamp.ts';
import { replaceCache } from './replace-cache.ts';
import { encodeStatuses, type StatusEntry } from './status-lines.ts';
import { StatusTable } from './status-table.ts';

const STATUSES = '.statuses';

/** Fails on a symbolic link, whatever its target. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
/** This many surplus lines or runs are cheaper to read than to remove. */
const spare = 1000;
/** Runs found by reading are added in batches, so that an interrupted reader loses little. */
const batchSize = 1000;

/*
 * The file is a cache: an entry counts only while the journal has not changed since, and losing the file, a line or a
 * race costs only time.
 */

/** Adds the status of a run that has just finished, by one write; `fd` is its open journal. */
export function addStatus(
  directory: string,
  runId: string,
  { status, durationMs, fd }: { status: FinishedStatus; durationMs: number | null; fd: number },
): void {
  try {
    const { size, mtimeMs } = fstatSync(fd);
    append(dirname(directory), [{ runId, status, size, mtimeMs, durationMs }]);
  } catch {
    // The next reader adds the status.
  }
}

/** The statuses of the runs with these ids, which must be all runs. */
export function openStatuses(runsDir: string, ids: readonly string[]): RunStatuses {
  const table = new StatusTable(ids);
  const { lines, entries } = table.load(readText(statusesPath(runsDir)));
  const isLarge = lines > 2 * spare || entries > 2 * ids.length + spare;
  let at = 0;
  let unknown: JournalStats | null = null;
  let found: StatusEntry[] = [];
  const save = () => {
    if (found.length > 0) tried(() => append(runsDir, found));
    found = [];
  };
  return {
    of: (runId) => {
      const stats = journalStats(`${runsDir}/${runId}`);
      // Asked for in their order, a run is found within a few steps.
      at = ids.indexOf(runId, at);
      if (at === -1) at = ids.indexOf(runId);
      const status = stats === null ? null : table.statusAt(at, stats);
      unknown = status === null ? stats : null;
      return status;
    },
    durationOf: (runId) => (unknown === null && ids[at] === runId ? table.durationAt(at) : null),
    keep: (runId, status, durationMs) => {
      if (unknown === null || ids[at] !== runId) return;
      const { size, mtimeMs } = unknown;
      const entry = { runId, status, size, mtimeMs, durationMs };
      unknown = null;
      table.set(at, entry);
      if (isLarge) return;
      found.push(entry);
      if (found.length >= batchSize) save();
    },
    save: () => {
      // Lines that other processes add meanwhile are lost, and added again by the next reader.
      if (isLarge) tried(() => replaceCache(runsDir, STATUSES, encodeStatuses(table.entries())));
      else save();
    },
  };
}

function statusesPath(runsDir: string): string {
  return join(runsDir, STATUSES);
}

function append(runsDir: string, entries: readonly StatusEntry[]): void {
  const fd = openPrivate(statusesPath(runsDir), appending);
  try {
    writeSync(fd, encodeStatuses(entries));
  } finally {
    closeSync(fd);
  }
}

/** A disk error will show up with the runs themselves. */
function tried(work: () => void): void {
  try {
    work();
  } catch {
    // The next reader adds it.
  }
}

/** Valid lines are ASCII, which is read fastest as Latin-1; any other byte makes the checksum wrong. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
