import { join } from 'node:path';
import { tryOr } from '#system/errors.ts';
import type { RunLabel, Snapshot } from '../../store.ts';
import { readCreated } from '../journal/journal-reader.ts';
import { readSnapshot, timeOfId, timeOfRun } from '../run-directory.ts';
import { appendToCache, decodeGroups, encodeGroups, readCache, replaceCache } from './cache.ts';

/** This many surplus lines are cheaper to read than to remove. */
const SPARE_LINES = 500;

/**
 * A cache of the labels of runs, compared with the directory at each use: `["workflow","group","file"]<tab>id id=time`. A new
 * run adds its own line; when there are many such lines, the index is written again with one line per label, which is faster
 * to read.
 */
const INDEX = '.index';

type IndexedRuns = {
  readonly labels: Map<string, RunLabel>;
  /** Creation times of runs whose ids do not contain it, in milliseconds since 1970-01-01 UTC. */
  readonly times: Map<string, number>;
};

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
  const { index, contested, lines } = readIndex(runsDir);
  const missing = ids.filter((runId) => !index.labels.has(runId));
  const found = emptyIndex();
  for (const runId of missing) {
    const label = readLabel(join(runsDir, runId));
    if (label !== null) put(found, runsDir, runId, label);
  }
  const isContested = missing.some((runId) => contested.has(runId));
  const gone = index.labels.size - (ids.length - missing.length);
  for (const [runId, label] of found.labels) index.labels.set(runId, label);
  for (const [runId, time] of found.times) index.times.set(runId, time);
  if (isContested || lines > 2 * SPARE_LINES || gone > SPARE_LINES + ids.length) {
    // A line that another process adds meanwhile is lost, and its run is read again.
    tryOr(null, () => replaceCache(runsDir, INDEX, encode(index, ids)));
  } else if (found.labels.size > 0) addToIndex(runsDir, found);
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

/** The label from the first event, as it was shown; a run without an event has the names of its workflow. */
export function readLabel(directory: string): RunLabel | null {
  const created = readCreated(directory);
  if (created !== null) return { workflow: created.workflow, group: created.group, file: created.file };
  const workflow = tryOr(null, () => readSnapshot(directory))?.workflow;
  return workflow === undefined ? null : { workflow: workflow.name, group: workflow.group, file: workflow.file };
}

/** Runs that could not be added are read from their files later: a disk error will show up with them. */
function addToIndex(runsDir: string, runs: IndexedRuns): void {
  tryOr(null, () => appendToCache(runsDir, INDEX, encode(runs, runs.labels.keys())));
}

/** The index with its number of lines, valid or not. `contested`: ids with contradictory lines, which count as unknown. */
function readIndex(runsDir: string) {
  const index = emptyIndex();
  const contested = new Set<string>();
  // The same object for the same text: thousands of runs share a few.
  const known = new Map<string, RunLabel>();
  const lines = decodeGroups(readCache(runsDir, INDEX, 'utf8'), (head, entries) => {
    const label = known.get(head) ?? decodeLabel(head);
    if (label === null) return;
    known.set(head, label);
    for (const entry of entries) addEntry(entry, label, index, contested);
  });
  for (const runId of contested) index.labels.delete(runId);
  return { index, contested, lines };
}

/** The lines for those of the runs with these ids that have a label. */
function encode({ labels, times }: IndexedRuns, ids: Iterable<string>): string {
  const entries: (readonly [string, string])[] = [];
  for (const runId of ids) {
    const [label, time] = [labels.get(runId), times.get(runId)];
    if (label === undefined) continue;
    const { workflow, group, file } = label;
    entries.push([JSON.stringify([workflow, group, file]), time === undefined ? runId : `${runId}=${time}`]);
  }
  return encodeGroups(entries);
}

/** Null for a line of another version of wf. */
function decodeLabel(text: string): RunLabel | null {
  return tryOr(null, () => {
    const [workflow, group, file] = JSON.parse(text);
    return { workflow, group, file };
  });
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
