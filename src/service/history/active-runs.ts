import { isFinished } from '../../core/run/run-state.ts';
import type { RunArchive } from '../../store/store.ts';
import type { History } from './history.ts';
import type { PastRun } from './past-run.ts';
import { namesWorkflow } from './run-reference.ts';

/** The runs that a reference selects. */
export type MeantRuns = {
  /** The running and waiting runs, newest first. */
  readonly active: readonly PastRun[];
  /** The named run, or the last run of the workflow. */
  readonly last: PastRun;
};

/**
 * Finds the running and waiting runs of a reference: one run by its id, or every run of a workflow. Throws a `WfError`:
 * `not-found`, or `usage` if the reference is the prefix of several ids.
 */
export async function findActive(
  word: string,
  { archive, history, cwd }: { readonly archive: RunArchive; readonly history: History; readonly cwd: string },
): Promise<MeantRuns> {
  const last = await history.find(word);
  const isMeant = namesWorkflow(word, cwd);
  const isOfWorkflow = last.runId !== word && !word.startsWith('@') && isMeant(archive.readCreated(last.runId));
  if (!isOfWorkflow) return { last, active: isFinished(last.state) ? [] : [last] };
  const active: PastRun[] = [];
  const ids = archive.list();
  const labelOf = archive.labels(ids);
  for (const runId of ids) {
    if (!isMeant(labelOf(runId)) || !archive.mayGoOn(runId)) continue;
    const run = await history.read(runId);
    if (run !== null && !isFinished(run.state)) active.push(run);
  }
  return { last, active };
}
