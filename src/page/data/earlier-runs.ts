import type { RunHead, RunSummary } from '#run-view/api/types.ts';
import { api, ask } from '../api/client.ts';
import { isActive } from './workflows/workflow-state.ts';

/** Finished runs of a workflow before a run, newest first, and the one to compare with; null if there is none. */
export type Earlier = { readonly runs: readonly RunHead[]; readonly chosen: RunSummary | null };

/**
 * Reads up to `limit` finished runs of the same workflow before a run. `wanted`: the id of the selected run; empty: the
 * newest.
 */
export async function readEarlier(
  { runId, file, workflow, createdAt }: RunHead,
  { wanted, limit }: { wanted: string; limit: number },
): Promise<Earlier> {
  const query = { workflow: file ?? workflow, to: createdAt, limit: limit + 1 };
  const page = await ask(api.GET('/api/v2/runs', { params: { query } }));
  const runs = page.runs.filter((run) => run.runId !== runId && !isActive(run.status));
  const id = wanted === '' ? runs[0]?.runId : wanted;
  if (id === undefined) return { runs, chosen: null };
  const chosen = await ask(api.GET('/api/v2/runs/{id}', { params: { path: { id } } }));
  return { runs: runs.some((run) => run.runId === chosen.runId) ? runs : [chosen, ...runs], chosen };
}
