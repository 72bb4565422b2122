import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workflow } from '#core/workflow.ts';
import type { Source } from '#language/diagnostic.ts';
import { WfError } from '#system/errors.ts';
import type { Snapshot } from '../store.ts';
import { errorCode, storageError, writePrivate } from './disk/private-files.ts';
import { seal, unseal } from './disk/sealed.ts';

const format = 1;

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
  const file: SnapshotFile = { format, ...rest, logs };
  writePrivate(snapshotPath(directory), `${seal(JSON.stringify(file))}\n`);
  writePrivate(sourcesPath(directory), `${seal(JSON.stringify(sources))}\n`);
}

/** Null if it is missing or damaged. Throws a `WfError` `storage` if a later version wrote it. */
export function readSnapshot(directory: string): SnapshotFile | null {
  const path = snapshotPath(directory);
  const file = readSealed(path) as SnapshotFile | undefined;
  if (file === undefined) return null;
  if (file.format === format) return file;
  throw new WfError('storage', `"${path}" was written by a later version of wf`, { help: 'Update wf to read it.' });
}

/** Null if they are missing or damaged. */
export function readSources(directory: string): readonly Source[] | null {
  return (readSealed(sourcesPath(directory)) as readonly Source[] | undefined) ?? null;
}

/** The path of the snapshot: its file time is the time of the run. */
export function snapshotPath(directory: string): string {
  return join(directory, 'snapshot.json');
}

/** The path of the texts that the workflow was read from. */
export function sourcesPath(directory: string): string {
  return join(directory, 'sources.json');
}

function readSealed(path: string): unknown {
  try {
    return unseal(readFileSync(path).subarray(0, -1));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw storageError('read', path, error);
  }
}
