import { join } from 'node:path';
import type { RunLabel, Snapshot } from '../../store.ts';
import { readCreated } from '../journal/read-events.ts';
import { timeOfId } from '../run-directory.ts';
import { readSnapshot } from '../snapshot-file.ts';
import { addToIndex, type IndexedRuns, readIndex, replaceIndex } from './index-file.ts';
import { timeOfRun } from './run-time.ts';

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
