import { isFinished } from '#core/run/run-state.ts';
import type { RunArchive } from '#store/store.ts';
import type { History } from './history.ts';
import { mayBeActive } from './may-be-active.ts';
import type { PastRun } from './past-run.ts';
import { lastRunId, namesWorkflow, type Reach } from './run-reference.ts';

/** The runs that a reference selects. */
export type MeantRuns = {
  /** The running and waiting runs, newest first. */
  readonly active: readonly PastRun[];
  /** The named run, or the last run of the workflow. */
  readonly last: PastRun;
};

/** The dependencies of finding active runs. */
type ActiveRunTools = { readonly archive: RunArchive; readonly history: History; readonly reach: Reach };

/**
 * Finds the running and waiting runs of a reference: one run by its id, or every run of a workflow. `prefer`: the meaning of
 * a word that is both. Throws a `WfError`: `not-found`, or `usage` if the reference is the prefix of several ids.
 */
export async function findActive(
  word: string,
  tools: ActiveRunTools,
  prefer: 'run' | 'workflow' = 'run',
): Promise<MeantRuns> {
  const { archive, history, reach } = tools;
  const ofWorkflow = prefer === 'workflow' ? lastRunId({ archive, ids: archive.list() }, word, reach) : null;
  if (ofWorkflow !== null) {
    const active = await activeOf(word, tools);
    return { active, last: active[0] ?? (await history.find(ofWorkflow)) };
  }
  const last = await history.find(word);
  const isOfWorkflow =
    last.runId !== word && !word.startsWith('@') && namesWorkflow(word, reach)(archive.readCreated(last.runId));
  if (isOfWorkflow) return { last, active: await activeOf(word, tools) };
  return { last, active: isFinished(last.state) ? [] : [last] };
}

async function activeOf(workflow: string, { archive, history, reach }: ActiveRunTools): Promise<readonly PastRun[]> {
  const isMeant = namesWorkflow(workflow, reach);
  const active: PastRun[] = [];
  const ids = archive.list();
  const labelOf = archive.labels(ids);
  for (const runId of ids) {
    if (!isMeant(labelOf(runId)) || !mayBeActive(runId, archive)) continue;
    const run = await history.read(runId);
    if (run !== null && !isFinished(run.state)) active.push(run);
  }
  return active;
}
