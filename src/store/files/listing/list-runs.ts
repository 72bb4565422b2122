import { type Dirent, readdirSync } from 'node:fs';
import { errorCode } from '../disk/private-files.ts';
import { isRunId, timeOfId } from '../run-id.ts';
import { knownRuns } from './known-runs.ts';
import { timeOfRun } from './run-time.ts';

/** Longer than any number of microseconds since 1970 that a clock tells. */
const timeDigits = 17;
/** The times of so few runs are asked of their files sooner than of the index. */
const fewRuns = 20;

/** The ids of all runs in a directory, newest first: by the time in the id where there is one, else by the file's. */
export function listRuns(runsDir: string): readonly string[] {
  const { uuids, given } = directories(runsDir);
  // Such ids are in the order of their times when they are in that of their texts, which is found ten times as fast.
  if (given.length === 0) return uuids.sort().reverse();
  const ids = [...uuids, ...given];
  const known = given.length > fewRuns ? knownRuns(runsDir, ids) : null;
  const keys = ids.flatMap((runId) => {
    const time = timeOfId(runId) ?? known?.times.get(runId) ?? timeOfRun(runsDir, runId);
    return time === null ? [] : [`${Math.floor(time * 1000)}`.padStart(timeDigits, '0') + runId];
  });
  return keys
    .sort()
    .reverse()
    .map((key) => key.slice(timeDigits));
}

/** Ids that were made here, and those that were given by somebody. */
function directories(runsDir: string): { readonly uuids: string[]; readonly given: readonly string[] } {
  const uuids: string[] = [];
  const given: string[] = [];
  for (const entry of entriesOf(runsDir)) {
    if (!entry.isDirectory()) continue;
    if (isPlainUuid(entry.name)) uuids.push(entry.name);
    else if (isRunId(entry.name)) given.push(entry.name);
  }
  return { uuids, given };
}

function entriesOf(runsDir: string): readonly Dirent[] {
  try {
    return readdirSync(runsDir, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isPlainUuid(runId: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(runId);
}
