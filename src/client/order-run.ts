import type { RetrySelection } from '../core/run/retry.ts';
import type { Param } from '../core/run/run.ts';
import type { RunSummary } from '../core/run/summary.ts';
import { WfError } from '../errors.ts';
import { requireRunOf } from '../service/history/find-run.ts';
import { newRunId } from '../service/runs/run-id.ts';
import { InvalidWorkflow } from '../service/workflows/invalid-workflow.ts';
import { type Answer, type DaemonClient, segment } from './daemon-client.ts';
import { findRun } from './find-runs.ts';
import { readSummary } from './read-summary.ts';
import { sourcesOfWorkflow } from './remote-workflow.ts';

/** A run that a daemon has accepted. `isNew`: false if a run with that id existed. */
export type OrderedRun = { readonly summary: RunSummary; readonly isNew: boolean };

/** An order to start a run; `params` null: the defaults of the file, `runId` null: a new id. */
export type StartOrder = {
  readonly workflow: string;
  readonly params: readonly Param[] | null;
  readonly runId: string | null;
  /** Failures that `continueOn.failure` tolerates fail the run. */
  readonly strict: boolean;
};

/** An order to retry a run. */
export type RetryOrder = {
  readonly run: string;
  /** The workflow to which the run must belong; null: any. */
  readonly workflow: string | null;
  readonly selection: RetrySelection;
  readonly params: readonly Param[] | null;
  readonly useFile: boolean;
  readonly runId: string | null;
  readonly strict: boolean;
};

/**
 * Lets a daemon start a workflow. The client creates the id, so that the request can be repeated. Throws a `WfError`: `not-found`,
 * an `InvalidWorkflow`, `usage` (a parameter), `run-exists` (of another workflow), `busy`.
 */
export async function startRemotely(client: DaemonClient, order: StartOrder): Promise<OrderedRun> {
  const { workflow, params, runId, strict } = order;
  const body = { runId: runId ?? newRunId(), ...(params === null ? {} : { params }), ...(strict ? { strict } : {}) };
  const path = `/workflows/${segment(workflow)}/runs`;
  return accepted(client, await withSources(client, workflow, () => client.post(path, body, { slow: true })), runId);
}

/**
 * Lets a daemon retry a run; null if no step is left to run. Throws as `startRemotely` does, and `run-active`. `cwd`:
 * the base of relative workflow paths.
 */
export async function retryRemotely(
  client: DaemonClient,
  order: RetryOrder,
  cwd: string,
): Promise<{ readonly retried: RunSummary; readonly ordered: OrderedRun | null }> {
  const { selection, params, useFile, runId, strict } = order;
  const { summary: retried } = await findRun(client, order.run);
  if (order.workflow !== null) requireRunOf(order.workflow, retried, cwd);
  const body = {
    runId: runId ?? newRunId(),
    ...('only' in selection ? { step: selection.only } : 'from' in selection ? { from: selection.from } : {}),
    ...(params === null ? {} : { params }),
    useFile,
    ...(strict ? { strict } : {}),
  };
  try {
    const path = `/runs/${segment(retried.runId)}/retry`;
    const answer = await withSources(client, retried.workflow, () => client.post(path, body, { slow: true }));
    return { retried, ordered: accepted(client, answer, runId) };
  } catch (error) {
    // The only possible conflict of a run that succeeded.
    if (error instanceof WfError && error.code === 'conflict' && retried.status === 'succeeded') {
      return { retried, ordered: null };
    }
    throw error;
  }
}

function accepted({ settings }: DaemonClient, { status, body }: Answer, runId: string | null): OrderedRun {
  return { summary: readSummary(body, settings), isNew: status === 201 || runId === null };
}

/** Adds the source texts to the diagnostics of an error, for display. */
async function withSources(client: DaemonClient, workflow: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof InvalidWorkflow) || error.sources.length > 0) throw error;
    throw new InvalidWorkflow(workflow, error.diagnostics, await sourcesOfWorkflow(client, workflow));
  }
}
