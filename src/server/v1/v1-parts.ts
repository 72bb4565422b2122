import type { RunSummary } from '#core/summary/summary.ts';
import type { History, PastRun } from '#service/history.ts';
import type { ServedRuns, ServedWorkflows } from '#service/served.ts';
import type { RunActions } from '#service/service.ts';
import type { ListedWorkflow, SearchLines } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { ApiRequest, Reply } from '../route.ts';

/** The dependencies of the v1 API. */
export type V1Parts = {
  readonly workflows: ServedWorkflows;
  readonly runIndex: ServedRuns;
  readonly history: Pick<History, 'read' | 'summarize'>;
  readonly runs: RunActions;
  readonly searchLines: SearchLines;
};

/** Answers a request to a route of the v1 API. */
export type V1Handler = (request: ApiRequest, parts: V1Parts) => Promise<Reply> | Reply;

/** A run with the data of the v1 API. */
export type ShownRun = {
  readonly past: PastRun;
  readonly summary: RunSummary;
};

/** Reads a run; null when it has been removed. */
export async function readShown(runId: string, { history }: Pick<V1Parts, 'history'>): Promise<ShownRun | null> {
  const past = await history.read(runId);
  return past === null ? null : { past, summary: history.summarize(past) };
}

/** Returns the run of a workflow for a handle, its id. Throws a `WfError` `not-found`, also for a run of another. */
export async function runOfHandle(handle: string, listed: ListedWorkflow, parts: V1Parts): Promise<ShownRun> {
  const isOurs = parts.runIndex.isRunOf(listed.file, handle);
  const run = isOurs ? await readShown(handle, parts) : null;
  if (run !== null) return run;
  throw new WfError('not-found', `the workflow "${listed.name}" has no run "${handle}"`);
}
