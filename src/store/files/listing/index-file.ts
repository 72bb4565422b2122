import { closeSync, constants, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32OfText } from '#start-up/crc32.ts';
import type { RunLabel } from '../../store.ts';
import { openPrivate } from '../disk/private-files.ts';
import { replaceCache } from './replace-cache.ts';

const INDEX = '.index';

/** Data of runs, so that their files need not be opened. */
export type IndexedRuns = {
  readonly labels: Map<string, RunLabel>;
  /** Creation times of runs whose ids do not contain it, in milliseconds since 1970-01-01 UTC. */
  readonly times: Map<string, number>;
};

/** An index as read from disk. */
export type FoundIndex = IndexedRuns & {
  /** Ids with contradictory lines, which are treated as unknown. */
  readonly contested: ReadonlySet<string>;
  /** Number of lines, valid or not. */
  readonly lines: number;
};

/** Fails on a symbolic link, whatever its target. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/*
 * A line lists the runs of one label, after the CRC-32 of the rest of the line: `1a2b3c4d ["workflow","group","file"]<tab>id
 * id=time`. A new run adds its own line; when there are many such lines, the index is written again with one line per
 * label, which is faster to read. It is a cache, compared with the directory at each use. Losing the index, a line or a
 * race costs only time.
 */

/** Adds runs by one write. Runs that could not be added are read from their files later. */
export function addToIndex(runsDir: string, runs: IndexedRuns): void {
  let fd: number | null = null;
  try {
    fd = openPrivate(indexPath(runsDir), appending);
    writeSync(fd, encode(runs));
  } catch {
    // A disk error will show up with the run itself.
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Replaces the index. A line that another process adds meanwhile is lost, and its run is read again. */
export function replaceIndex(runsDir: string, runs: IndexedRuns): void {
  try {
    replaceCache(runsDir, INDEX, encode(runs));
  } catch {
    // A disk error will show up with the runs themselves.
  }
}

/** Reads the index; a missing or unreadable one is empty. */
export function readIndex(runsDir: string): FoundIndex {
  const lines = readText(indexPath(runsDir)).split('\n');
  const index = { labels: new Map<string, RunLabel>(), times: new Map<string, number>() };
  const contested = new Set<string>();
  // The same object for the same text: thousands of runs share a few.
  const known = new Map<string, RunLabel>();
  for (const line of lines) {
    const text = line.slice(9);
    if (text === '' || Number.parseInt(line.slice(0, 8), 16) !== crc32OfText(text)) continue;
    const end = text.indexOf('\t');
    const label = known.get(text.slice(0, end)) ?? decodeLabel(text.slice(0, end));
    if (label === null) continue;
    known.set(text.slice(0, end), label);
    for (const entry of text.slice(end + 1).split(' ')) addEntry(entry, label, index, contested);
  }
  for (const runId of contested) index.labels.delete(runId);
  return { ...index, contested, lines: lines.length - 1 };
}

function indexPath(runsDir: string): string {
  return join(runsDir, INDEX);
}

function encode({ labels, times }: IndexedRuns): string {
  const entries = new Map<string, string[]>();
  for (const [runId, { workflow, group, file }] of labels) {
    const label = JSON.stringify([workflow, group, file]);
    const time = times.get(runId);
    const list = entries.get(label) ?? [];
    list.push(time === undefined ? runId : `${runId}=${time}`);
    entries.set(label, list);
  }
  const lines = Array.from(entries, ([label, list]) => {
    const text = `${label}\t${list.join(' ')}`;
    return `${crc32OfText(text).toString(16).padStart(8, '0')} ${text}\n`;
  });
  return lines.join('');
}

/** Null for a line of another version of wf. */
function decodeLabel(text: string): RunLabel | null {
  try {
    const [workflow, group, file] = JSON.parse(text);
    return { workflow, group, file };
  } catch {
    return null;
  }
}

function addEntry(entry: string, label: RunLabel, { labels, times }: IndexedRuns, contested: Set<string>): void {
  const idEnd = entry.indexOf('=');
  const runId = idEnd === -1 ? entry : entry.slice(0, idEnd);
  const time = idEnd === -1 ? undefined : Number(entry.slice(idEnd + 1));
  const before = labels.get(runId);
  if (before !== undefined && (before !== label || times.get(runId) !== time)) contested.add(runId);
  labels.set(runId, label);
  if (time !== undefined) times.set(runId, time);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
