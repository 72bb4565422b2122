import { join } from 'node:path';
import type { RunLabel, Snapshot } from '../../store.ts';
import { readCreated } from '../journal/read-events.ts';
import { timeOfId } from '../run-id.ts';
import { readSnapshot } from '../snapshot-file.ts';
import { addToIndex, type RunIndex, readIndex, replaceIndex } from './run-index.ts';
import { timeOfRun } from './run-time.ts';

/** So many lines more than needed are cheaper to read than to do away with. */
const spareLines = 500;

/** Puts a run that has just been made into the index. */
export function indexNewRun(runsDir: string, { runId, workflow: { name, group, file } }: Snapshot): void {
  const index = emptyIndex();
  put(index, runsDir, runId, { workflow: name, group, file });
  addToIndex(runsDir, index);
}

/**
 * What the runs of these ids, which are all that there are, are called and when they were made: from the index, and from the
 * runs themselves where it knows nothing, which is then put into it. What cannot be told of a run is left out.
 */
export function knownRuns(runsDir: string, ids: readonly string[]): RunIndex {
  const index = readIndex(runsDir);
  const missing = ids.filter((runId) => !index.labels.has(runId));
  const found = emptyIndex();
  for (const runId of missing) {
    const label = labelOf(join(runsDir, runId));
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

function emptyIndex(): RunIndex {
  return { labels: new Map(), times: new Map() };
}

function put({ labels, times }: RunIndex, runsDir: string, runId: string, label: RunLabel): void {
  const time = timeOfId(runId) === null ? timeOfRun(runsDir, runId) : undefined;
  // Nothing is left that could be shown of it.
  if (time === null) return;
  labels.set(runId, label);
  if (time !== undefined) times.set(runId, time);
}

function pick({ labels, times }: RunIndex, ids: readonly string[]): RunIndex {
  const picked = emptyIndex();
  for (const runId of ids) {
    const [label, time] = [labels.get(runId), times.get(runId)];
    if (label !== undefined) picked.labels.set(runId, label);
    if (time !== undefined) picked.times.set(runId, time);
  }
  return picked;
}

/** The first event tells it as it was shown; a run that has none yet is called as its workflow is. */
function labelOf(directory: string): RunLabel | null {
  const created = readCreated(directory);
  if (created !== null) return { workflow: created.workflow, group: created.group, file: created.file };
  try {
    const workflow = readSnapshot(directory)?.workflow;
    return workflow === undefined ? null : { workflow: workflow.name, group: workflow.group, file: workflow.file };
  } catch {
    return null;
  }
}
