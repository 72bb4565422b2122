import { closeSync, constants, fstatSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FinishedStatus, runStatuses } from '../../../core/run/run.ts';
import { crc32OfText } from '../../../start-up/crc32.ts';
import type { RunStatuses } from '../../store.ts';
import { openPrivate } from '../disk/private-files.ts';
import { hasStamp, journalStats, stampOf } from '../journal/journal-stamp.ts';
import { replaceCache } from './replace-cache.ts';

const STATUSES = '.statuses';

/** Fails on a symbolic link, whatever its target. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
/** This many surplus lines or runs are cheaper to read than to remove. */
const spare = 1000;
/** Runs found by reading are added in batches, so that an interrupted reader loses little. */
const batchSize = 1000;

/** `stamp`: of the journal that the status was read from. */
type Entry = { readonly status: FinishedStatus; readonly stamp: string };
type Entries = Map<string, Entry>;

/*
 * A line lists finished runs of one status, after the CRC-32 of the rest of the line: `1a2b3c4d failed<tab>id=stamp
 * id=stamp`. The stamp is the size and the change time of the journal: an entry counts only while the journal has not
 * changed since. A later line of a run replaces an earlier one. It is a cache: losing it, a line or a race costs only
 * time.
 */

/** Adds the status of a run that has just finished, by one write; `fd` is its open journal. */
export function addStatus(
  directory: string,
  runId: string,
  { status, fd }: { status: FinishedStatus; fd: number },
): void {
  try {
    append(dirname(directory), new Map([[runId, { status, stamp: stampOf(fstatSync(fd)) }]]));
  } catch {
    // The next reader adds the status.
  }
}

/** The statuses of the runs with these ids, which must be all runs. */
export function openStatuses(runsDir: string, ids: readonly string[]): RunStatuses {
  const { entries, lines } = readEntries(runsDir);
  const stamps = new Map<string, string>();
  let found: Entries = new Map();
  const isLarge = lines > 2 * spare || entries.size > 2 * ids.length + spare;
  const save = () => {
    if (found.size > 0) tried(() => append(runsDir, found));
    found = new Map();
  };
  return {
    of: (runId) => {
      const stats = journalStats(`${runsDir}/${runId}`);
      if (stats === null) return null;
      const entry = entries.get(runId);
      if (entry !== undefined && hasStamp(stats, entry.stamp)) return entry.status;
      stamps.set(runId, stampOf(stats));
      return null;
    },
    keep: (runId, status) => {
      const stamp = stamps.get(runId);
      if (stamp === undefined) return;
      stamps.delete(runId);
      entries.set(runId, { status, stamp });
      found.set(runId, { status, stamp });
      if (found.size >= batchSize && !isLarge) save();
    },
    save: () => {
      // Lines that other processes add meanwhile are lost, and added again by the next reader.
      if (isLarge) tried(() => replaceCache(runsDir, STATUSES, encode(pick(entries, ids))));
      else save();
    },
  };
}

function pick(entries: Entries, ids: readonly string[]): Entries {
  const picked: Entries = new Map();
  for (const runId of ids) {
    const entry = entries.get(runId);
    if (entry !== undefined) picked.set(runId, entry);
  }
  return picked;
}

function statusesPath(runsDir: string): string {
  return join(runsDir, STATUSES);
}

function readEntries(runsDir: string): { readonly entries: Entries; readonly lines: number } {
  const lines = readText(statusesPath(runsDir)).split('\n');
  const entries: Entries = new Map();
  for (const line of lines) {
    const text = line.slice(9);
    if (text === '' || Number.parseInt(line.slice(0, 8), 16) !== crc32OfText(text)) continue;
    const end = text.indexOf('\t');
    const status = finishedStatus(text.slice(0, end));
    if (status === null) continue;
    for (const entry of text.slice(end + 1).split(' ')) {
      const idEnd = entry.indexOf('=');
      entries.set(entry.slice(0, idEnd), { status, stamp: entry.slice(idEnd + 1) });
    }
  }
  return { entries, lines: lines.length - 1 };
}

/** Null for a status of another version of wf. */
function finishedStatus(word: string): FinishedStatus | null {
  const status = runStatuses.find((known) => known === word);
  return status === undefined || !isFinishedStatus(status) ? null : status;
}

function isFinishedStatus(status: (typeof runStatuses)[number]): status is FinishedStatus {
  return !['queued', 'running', 'canceling', 'handling'].includes(status);
}

function encode(entries: Entries): string {
  const groups = new Map<FinishedStatus, string[]>();
  for (const [runId, { status, stamp }] of entries) {
    const group = groups.get(status);
    if (group === undefined) groups.set(status, [`${runId}=${stamp}`]);
    else group.push(`${runId}=${stamp}`);
  }
  const lines = Array.from(groups, ([status, list]) => {
    const text = `${status}\t${list.join(' ')}`;
    return `${crc32OfText(text).toString(16).padStart(8, '0')} ${text}\n`;
  });
  return lines.join('');
}

function append(runsDir: string, entries: Entries): void {
  const fd = openPrivate(statusesPath(runsDir), appending);
  try {
    writeSync(fd, encode(entries));
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

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
