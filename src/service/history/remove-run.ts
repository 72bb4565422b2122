import { isFinished } from '../../core/run/run-state.ts';
import { WfError } from '../../errors.ts';
import type { RunArchive, RunRemoval } from '../../store/store.ts';
import type { History } from './history.ts';
import { type PastRun, readPastRun } from './past-run.ts';

/** What the removal of one run takes. */
export type RemoveTools = {
  readonly archive: RunArchive & Pick<RunRemoval, 'remove'>;
  readonly history: Pick<History, 'read'>;
};

/**
 * Removes a run that has finished, with its logs; answers how many bytes of disk that freed. Throws a `WfError`: `not-found`,
 * `run-active`, `conflict` while another process holds the run, `storage`.
 */
export async function removePastRun(runId: string, { archive, history }: RemoveTools): Promise<number> {
  // A run whose process died is settled first: what that has left running must not outlive the record of it.
  const run = await history.read(runId);
  if (run === null) throw new WfError('not-found', `there is no run "${runId}"`);
  const isOver = (found: PastRun | null) => found === null || isFinished(found.state) || !archive.mayGoOn(runId);
  if (!isOver(run)) throw new WfError('run-active', `run ${runId} is running`, { help: 'stop it first' });
  await archive.judgeOwner(runId);
  const bytes = archive.remove(runId, () => {
    const found = readPastRun(archive, runId);
    return isOver(found) && found?.state.createdAt === run.state.createdAt;
  });
  if (bytes !== null) return bytes;
  throw new WfError('conflict', `run ${runId} is held by another process`, { help: 'retry it in a moment' });
}
