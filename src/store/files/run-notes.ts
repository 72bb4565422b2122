import { closeSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFile } from '#system/files.ts';
import type { RunNotes } from '../store.ts';
import { errorCode, makePrivateDirectory, openPrivate, readIfThere, storing } from './disk/private-files.ts';

const suffix = '.json';

/** Notes in files of a directory, which is created on the first write. Each note is written atomically. */
export function createRunNotes(directory: string): RunNotes {
  const pathOf = (runId: string) => join(directory, `${runId}${suffix}`);
  return {
    write: (runId, text) => storing('write', pathOf(runId), () => replace(directory, pathOf(runId), text)),
    all: () =>
      namesIn(directory).flatMap((name) => {
        const runId = name.slice(0, -suffix.length);
        const text = readIfThere(pathOf(runId));
        return text === null ? [] : [{ runId, text }];
      }),
    remove: (runId) => {
      removeFile(pathOf(runId));
      removeFile(draftOf(pathOf(runId)));
    },
  };
}

function draftOf(path: string): string {
  return `${path}.draft`;
}

/** Not flushed: after a crash of the machine, the process it describes is gone. */
function replace(directory: string, path: string, text: string): void {
  makePrivateDirectory(directory);
  const draft = draftOf(path);
  const fd = openPrivate(draft, 'w');
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(suffix));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
