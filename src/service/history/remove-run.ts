import { isFinished } from '#core/run/run-state.ts';
import type { RunArchive, RunRemoval } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import type { History } from './history.ts';
import { type PastRun, readPastRun } from './past-run.ts';

/** The dependencies of the removal of a run. */
export type RemoveTools = {
  readonly archive: RunArchive & Pick<RunRemoval, 'remove'>;
  readonly history: Pick<History, 'read'>;
};

/**
 * Removes a finished run with its logs; returns the freed bytes of disk space. Throws a `WfError`: `not-found`,
 * `run-active`, `conflict` while another process holds the run, `storage`.
 */
export async function removePastRun(runId: string, { archive, history }: RemoveTools): Promise<number> {
  // A run whose process died is settled first: its remaining processes must not outlive its record.
  const run = await history.read(runId);
  if (run === null) throw new WfError('not-found', `there is no run "${runId}"`);
  const isOver = (found: PastRun | null) => found === null || isFinished(found.state) || !archive.mayGoOn(runId);
  if (!isOver(run)) throw new WfError('run-active', `run ${runId} is running`, { help: 'stop it first' });
  await archive.judgeOwner(runId);
  const bytes = await archive.remove(runId, () => {
    const found = readPastRun(archive, runId);
    return isOver(found) && found?.state.createdAt === run.state.createdAt;
  });
  if (bytes !== null) return bytes;
  throw new WfError('conflict', `run ${runId} is held by another process`, { help: 'retry in a moment' });
}
