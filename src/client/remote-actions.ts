import { newRunId } from '#service/runs/new-run-id.ts';
import type { AcceptedRun, RetryOrder, RunActions, StartOrder, StopAnswer, StopOptions } from '#service/service.ts';
import { InvalidWorkflow } from '#service/workflows/invalid-workflow.ts';
import { WfError } from '#system/errors.ts';
import { type Answer, type DaemonClient, segment } from './daemon-client.ts';
import { readSummary } from './read-summary.ts';
import { summaryOf } from './remote-runs.ts';
import { sourcesOfWorkflow } from './remote-workflow.ts';

/** Creates the actions on the runs of a daemon. The client creates the ids of runs, so that each request can be repeated. */
export function createRemoteActions(client: DaemonClient): RunActions {
  return {
    start: (order) => start(client, order),
    retry: (order) => retry(client, order),
    stop: (runId, request) => stop(client, runId, request),
    mark: async (runId, { step, status }) => {
      const path = `/runs/${segment(runId)}/steps/${segment(step)}/mark`;
      return readSummary((await client.post(path, { status })).body, client.settings);
    },
    answer: async (runId, { step, decision, comment, inputs }) => {
      const path = `/runs/${segment(runId)}/steps/${segment(step)}`;
      const { body } =
        decision === 'approved'
          ? await client.post(`${path}/approve`, { inputs, comment }, { slow: true })
          : await client.post(`${path}/reject`, { reason: comment }, { slow: true });
      return readSummary(body, client.settings);
    },
  };
}

/** Throws `run-exists` if the id belongs to a run of another workflow. */
async function start(client: DaemonClient, order: StartOrder): Promise<AcceptedRun> {
  const { params, runId, strict } = order;
  const workflow = nameOf(order);
  const body = { runId: runId ?? newRunId(), ...(params === null ? {} : { params }), ...(strict ? { strict } : {}) };
  const path = `/workflows/${segment(workflow)}/runs`;
  const ask = () => client.post(path, body, { slow: true });
  return accepted(client, await withSources(client, ask, async () => workflow), runId);
}

/** A daemon runs the files of its own directory. */
function nameOf({ workflow }: StartOrder): string {
  if ('name' in workflow) return workflow.name;
  throw new WfError('usage', 'the daemon runs only workflows in its own directory: pass a name');
}

async function retry(client: DaemonClient, order: RetryOrder): Promise<AcceptedRun | null> {
  const { runId: retried, selection, params, useFile, newRunId: runId, strict } = order;
  const body = {
    runId: runId ?? newRunId(),
    ...('only' in selection ? { step: selection.only } : 'from' in selection ? { from: selection.from } : {}),
    ...(params === null ? {} : { params }),
    useFile,
    ...(strict ? { strict } : {}),
  };
  const ask = () => client.post(`/runs/${segment(retried)}/retry`, body, { slow: true });
  try {
    const answer = await withSources(client, ask, async () => (await summaryOf(client, retried)).workflow);
    return accepted(client, answer, runId);
  } catch (error) {
    // The only possible conflict of a run that succeeded.
    const isConflict = error instanceof WfError && error.code === 'conflict';
    if (isConflict && (await summaryOf(client, retried)).status === 'succeeded') return null;
    throw error;
  }
}

function accepted({ settings }: DaemonClient, { status, body }: Answer, runId: string | null): AcceptedRun {
  return { runId: readSummary(body, settings).runId, isNew: status === 201 || runId === null };
}

/** Adds the source texts to the diagnostics of an error, for display. */
async function withSources(
  client: DaemonClient,
  ask: () => Promise<Answer>,
  workflowOf: () => Promise<string>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof InvalidWorkflow) || error.sources.length > 0) throw error;
    const workflow = await workflowOf();
    throw new InvalidWorkflow(workflow, error.diagnostics, await sourcesOfWorkflow(client, workflow));
  }
}

async function stop(client: DaemonClient, runId: string, { kill }: StopOptions): Promise<StopAnswer> {
  const forced = kill === 'now';
  try {
    const { status } = await client.post(`/runs/${segment(runId)}/stop`, forced ? { force: true } : null);
    return { result: status === 202 ? 'asked' : 'canceled', forced };
  } catch (error) {
    if (error instanceof WfError && error.code === 'conflict') return { result: 'over', forced };
    throw error;
  }
}
