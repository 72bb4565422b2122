import { closeSync, constants, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32OfText } from '#fast/crc32.ts';
import { removeIfPossible } from '#system/files.ts';
import type { RunLabel, Snapshot } from '../../store.ts';
import { makePrivateDirectory, openPrivate, writePrivate } from '../disk/private-files.ts';
import { readCreated } from '../journal/journal-reader.ts';
import { readSnapshot, timeOfId, timeOfRun } from '../run-directory.ts';

/** This many surplus lines are cheaper to read than to remove. */
const spareLines = 500;

/** Adds a new run to the index. */
export function indexNewRun(runsDir: string, { runId, workflow: { name, group, file } }: Snapshot): void {
  const index = emptyIndex();
  put(index, runsDir, runId, { workflow: name, group, file });
  addToIndex(runsDir, index);
}

/**
 * Labels and creation times of the runs with these ids, which must be all runs: from the index, and for unknown runs
 * from the runs themselves, which are then added to it. Unknown values are left out.
 */
export function knownRuns(runsDir: string, ids: readonly string[]): IndexedRuns {
  const index = readIndex(runsDir);
  const missing = ids.filter((runId) => !index.labels.has(runId));
  const found = emptyIndex();
  for (const runId of missing) {
    const label = readLabel(join(runsDir, runId));
    if (label !== null) put(found, runsDir, runId, label);
  }
  const isContested = missing.some((runId) => index.contested.has(runId));
  const gone = index.labels.size - (ids.length - missing.length);
  for (const [runId, label] of found.labels) index.labels.set(runId, label);
  for (const [runId, time] of found.times) index.times.set(runId, time);
  if (isContested || index.lines > 2 * spareLines || gone > spareLines + ids.length)
    replaceIndex(runsDir, pick(index, ids));
  else if (found.labels.size > 0) addToIndex(runsDir, found);
  return index;
}

function emptyIndex(): IndexedRuns {
  return { labels: new Map(), times: new Map() };
}

function put({ labels, times }: IndexedRuns, runsDir: string, runId: string, label: RunLabel): void {
  const time = timeOfId(runId) === null ? timeOfRun(runsDir, runId) : undefined;
  // Nothing of the run can be shown.
  if (time === null) return;
  labels.set(runId, label);
  if (time !== undefined) times.set(runId, time);
}

function pick({ labels, times }: IndexedRuns, ids: readonly string[]): IndexedRuns {
  const picked = emptyIndex();
  for (const runId of ids) {
    const [label, time] = [labels.get(runId), times.get(runId)];
    if (label !== undefined) picked.labels.set(runId, label);
    if (time !== undefined) picked.times.set(runId, time);
  }
  return picked;
}

/** The label from the first event, as it was shown; a run without an event has the names of its workflow. */
export function readLabel(directory: string): RunLabel | null {
  const created = readCreated(directory);
  if (created !== null) return { workflow: created.workflow, group: created.group, file: created.file };
  try {
    const workflow = readSnapshot(directory)?.workflow;
    return workflow === undefined ? null : { workflow: workflow.name, group: workflow.group, file: workflow.file };
  } catch {
    return null;
  }
}

const INDEX = '.index';

/** Data of runs, so that their files need not be opened. */
type IndexedRuns = {
  readonly labels: Map<string, RunLabel>;
  /** Creation times of runs whose ids do not contain it, in milliseconds since 1970-01-01 UTC. */
  readonly times: Map<string, number>;
};

/** An index as read from disk. */
type FoundIndex = IndexedRuns & {
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
function addToIndex(runsDir: string, runs: IndexedRuns): void {
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
function replaceIndex(runsDir: string, runs: IndexedRuns): void {
  try {
    replaceCache(runsDir, INDEX, encode(runs));
  } catch {
    // A disk error will show up with the runs themselves.
  }
}

/** Reads the index; a missing or unreadable one is empty. */
function readIndex(runsDir: string): FoundIndex {
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

/** Replaces a cache file in the directory of the runs atomically, without flushing it. Throws the error of the disk. */
export function replaceCache(runsDir: string, name: string, content: string): void {
  const drafts = join(runsDir, '.new');
  // Named as in `new-run.ts`, which removes the leftovers of dead processes.
  const draft = join(drafts, `${process.pid}__${name.replace('.', '_')}-${Math.random().toString(36).slice(2)}`);
  try {
    makePrivateDirectory(drafts);
    writePrivate(draft, content);
    renameSync(draft, join(runsDir, name));
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
}
