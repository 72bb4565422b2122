import { join } from 'node:path';
import type { RunRemoval } from '../../store.ts';
import { type Processes, thisOwner } from '../control/owner.ts';
import { isRunId } from '../run-id.ts';
import { removableBytes, removeRun } from './remove-run.ts';
import { claimTidying } from './tidy-stamp.ts';
import { emptyTrash } from './trash.ts';

/** The removal of runs from the directory that holds them. */
export function createRunRemoval({ runsDir, ...processes }: Processes & { readonly runsDir: string }): RunRemoval {
  const { isAlive } = processes;
  return {
    remove: (runId, mayGo) =>
      isRunId(runId) ? removeRun({ runsDir, runId, owner: thisOwner(processes), isAlive, mayGo }) : null,
    sizeOf: (runId) => (isRunId(runId) ? removableBytes(join(runsDir, runId)) : 0),
    finishRemovals: () => emptyTrash(runsDir),
    claimTidying: (now, everyMs) => claimTidying(runsDir, now, everyMs),
  };
}
