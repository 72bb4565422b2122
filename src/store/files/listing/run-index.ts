import { closeSync, constants, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfPossible } from '../../../remove-file.ts';
import type { RunLabel } from '../../store.ts';
import { crc32OfText } from '../disk/crc32.ts';
import { makePrivateDirectory, openPrivate, writePrivate } from '../disk/private-files.ts';

/** What the index tells of runs, so that their files need not be opened. */
export type RunIndex = {
  readonly labels: Map<string, RunLabel>;
  /** Of runs whose ids do not tell it: when they were made, in milliseconds since 1970-01-01 UTC. */
  readonly times: Map<string, number>;
};

/** An index as it was found. */
export type FoundIndex = RunIndex & {
  /** Ids about which its lines contradict each other: nothing is known of them. */
  readonly contested: ReadonlySet<string>;
  /** How many lines it has, good or not. */
  readonly lines: number;
};

/** Fails on a link, wherever that leads. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/*
 * A line tells which runs have a label, with the CRC-32 of what follows it: `1a2b3c4d ["workflow","group","file"]<tab>id
 * id=time`. A new run adds a line of its own; once there are many of those, the index is written anew with one line for each
 * label, which can be read fast. It is a cache: whoever uses it compares it with the directory. Losing it, a line of it, or a
 * race over it costs time and nothing else.
 */

/** Adds runs by one write. What cannot be written is found out by reading the runs later. */
export function addToIndex(runsDir: string, runs: RunIndex): void {
  let fd: number | null = null;
  try {
    fd = openPrivate(indexPath(runsDir), appending);
    writeSync(fd, encode(runs));
  } catch {
    // The run itself will tell what is wrong with the disk.
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Puts a new index in the place of the old one. A line that another process adds meanwhile is lost, and found again. */
export function replaceIndex(runsDir: string, runs: RunIndex): void {
  const drafts = join(runsDir, '.new');
  // A name as in `staging.ts`: what a dead process leaves is removed there.
  const draft = join(drafts, `${process.pid}___index-${Math.random().toString(36).slice(2)}`);
  try {
    makePrivateDirectory(drafts);
    writePrivate(draft, encode(runs));
    renameSync(draft, indexPath(runsDir));
  } catch {
    removeIfPossible(draft);
  }
}

/** Reads the index; one that is missing or cannot be read knows nothing. */
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
  return join(runsDir, '.index');
}

function encode({ labels, times }: RunIndex): string {
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

/** Null for what another version of wf has written. */
function decodeLabel(text: string): RunLabel | null {
  try {
    const [workflow, group, file] = JSON.parse(text);
    return { workflow, group, file };
  } catch {
    return null;
  }
}

function addEntry(entry: string, label: RunLabel, { labels, times }: RunIndex, contested: Set<string>): void {
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
