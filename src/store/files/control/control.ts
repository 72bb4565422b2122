import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { WfError } from '#system/errors.ts';
import type { RunControl } from '../../store.ts';
import { openPrivate, storing } from '../disk/private-files.ts';
import { isRunId, journalPath, processLogPath } from '../run-directory.ts';
import { lastOwnerPath, ownerSocketPath } from './owner.ts';
import { clearAnswer, readStop, writeAnswer, writeStop } from './request-file.ts';

function flushFile(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** How processes reach the owners of the runs in a directory. */
export function createRunControl(runsDir: string): RunControl {
  const directoryOf = (runId: string) => {
    const directory = join(runsDir, runId);
    if (!isRunId(runId) || !existsSync(directory)) throw new WfError('not-found', `there is no run "${runId}"`);
    return directory;
  };
  return {
    requestStop: (runId, request) => {
      const directory = directoryOf(runId);
      storing('write a request to stop in', directory, () => writeStop(directory, request));
    },
    requestAnswer: (runId, request) => {
      const directory = directoryOf(runId);
      return storing('write an answer in', directory, () => writeAnswer(directory, request));
    },
    clearAnswer: (runId, step) => {
      const directory = directoryOf(runId);
      storing('clear an answer in', directory, () => clearAnswer(directory, step));
    },
    flushJournal: (runId) => {
      const path = journalPath(directoryOf(runId));
      storing('flush', path, () => flushFile(path));
    },
    readStop: (runId) => {
      const directory = directoryOf(runId);
      return storing('read a request to stop in', directory, () => readStop(directory));
    },
    knock: async (runId) => {
      const owner = lastOwnerPath(directoryOf(runId));
      const path = owner === null ? null : ownerSocketPath(owner);
      if (path === null || !existsSync(path)) return null;
      const { knockAt } = await import('./owner-socket.ts');
      return knockAt(path);
    },
    openProcessLog: (runId) => {
      const path = processLogPath(directoryOf(runId));
      return { fd: storing('open', path, () => openPrivate(path, 'a')), path };
    },
  };
}
