import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WfError } from '../../../errors.ts';
import type { RunControl } from '../../store.ts';
import { openPrivate, storing } from '../disk/private-files.ts';
import { isRunId, processLogPath } from '../run-directory.ts';
import { lastOwnerPath, ownerSocketPath } from './owner.ts';
import { readStop, writeStop } from './stop-file.ts';

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
    readStop: (runId) => readStop(directoryOf(runId)),
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
