import { join } from 'node:path';
import type { Workflow } from '#core/workflow.ts';
import { messageOf, WfError } from '#system/errors.ts';
import type { RunQueue, Snapshot } from '../../store.ts';
import type { WaitingContent } from '../create-run.ts';
import { storing } from '../disk/private-files.ts';
import { createSync } from '../journal/create-sync.ts';
import type { JournalCalls } from '../journal/journal-calls.ts';
import { JournalFile, type JournalPosition } from '../journal/journal-file.ts';
import { takeBack } from '../removal/trash.ts';
import { isRunId } from '../run-directory.ts';
import { readLaunch, removeLaunch } from './launch-file.ts';
import { type Ownership, releaseOwner } from './owner.ts';

/** A run whose journal this process may write. */
export type OpenRun = {
  readonly runId: string;
  readonly directory: string;
  readonly workflow: Workflow;
  readonly logs: string | null;
  readonly position: JournalPosition;
  readonly ownership: Ownership;
  readonly unsynced: readonly string[];
  readonly calls: JournalCalls;
};

/** The waiting runs in a directory. `make` creates a run with this process as its owner. */
export function createRunQueue(
  runsDir: string,
  make: (snapshot: Snapshot, logDir: string | null, waiting: WaitingContent) => OpenRun,
): RunQueue {
  return {
    accept: async ({ snapshot, logDir, events, launch }) => {
      const { position, calls, ownership, unsynced, runId } = make(snapshot, logDir, { events, launch });
      const file = new JournalFile(position, calls);
      const release = () => storing('release', ownership.path, () => releaseOwner(ownership));
      try {
        await createSync({ file, unsynced, calls })(false).done;
      } catch (error) {
        // Closing a file may provide the descriptor that the removal needs.
        file.close();
        const isTakenBack = await takeBack(runsDir, runId);
        release();
        throw isTakenBack ? error : stillQueued(runId, error);
      }
      file.close();
      release();
    },
    readLaunch: (runId) => (isRunId(runId) ? readLaunch(join(runsDir, runId)) : null),
    removeLaunch: (runId) => {
      const directory = join(runsDir, runId);
      storing('remove the launch file in', directory, () => removeLaunch(directory));
    },
  };
}

/** The run is neither stored reliably nor withdrawn: a repeated request must use its id. */
function stillQueued(runId: string, cause: unknown): WfError {
  const why = messageOf(cause);
  return new WfError('storage', `run ${runId} is queued, but a crash of the machine may lose it: ${why}`, {
    help: `check it by its id: wf status ${runId}`,
    cause,
  });
}
