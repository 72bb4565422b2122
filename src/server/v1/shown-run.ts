import { WfError } from '../../errors.ts';
import type { ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { ShownRun, V1Parts } from './v1-parts.ts';

/** Reads a run; null when it has been removed. */
export async function readShown(runId: string, { history }: Pick<V1Parts, 'history'>): Promise<ShownRun | null> {
  const past = await history.read(runId);
  return past === null ? null : { past, summary: history.summarize(past) };
}

/**
 * Returns the run of a workflow for a handle from an earlier response: a run id, which is searched only among the runs
 * of the workflow. Throws a `WfError` `not-found`.
 */
export async function runOfHandle(handle: string, listed: ListedWorkflow, parts: V1Parts): Promise<ShownRun> {
  const isOurs = parts.runIndex.runIdsOf(listed.file).includes(handle);
  const run = isOurs ? await readShown(handle, parts) : null;
  if (run !== null) return run;
  throw new WfError('not-found', `the workflow "${listed.name}" has no run "${handle}"`);
}
