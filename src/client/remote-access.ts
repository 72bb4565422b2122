import type { ClientSettings } from '../config/client-settings.ts';
import { isFinished } from '../core/run/run-state.ts';
import type { RunSummary } from '../core/run/summary.ts';
import { WfError } from '../errors.ts';
import { locateSteps } from '../language/locate.ts';
import type { RunFilter } from '../service/history/history.ts';
import type { RunAccess, RunView, StepMark, StopAnswer, StopRequest } from '../service/history/run-access.ts';
import { createDaemonClient, type DaemonClient, segment } from './daemon-client.ts';
import { followRun } from './events/event-feed.ts';
import { activeRunsOf, findRun, hasWorkflow, lastRunOf, listRuns } from './find-runs.ts';
import { listWorkflows } from './list-workflows.ts';
import { remoteLogs } from './logs/remote-logs.ts';
import { readRemoteTail } from './logs/remote-tail.ts';
import { maskedOf } from './masked-run.ts';
import { readSummary } from './read-summary.ts';
import { readRemoteRun } from './remote-run.ts';
import { type ClientLimits, clientLimits, createTransport } from './transport/transport.ts';

/** Creates a client of the configured daemon. `tell` receives lines for the user while the daemon does not answer. */
export function openDaemon(
  settings: ClientSettings,
  tell: DaemonClient['tell'],
  limits: Partial<ClientLimits> = {},
): DaemonClient {
  return createDaemonClient(createTransport(settings, { ...clientLimits, ...limits }), tell);
}

/** Creates access to the workflows and runs of a daemon. */
export function openRemoteAccess(client: DaemonClient): RunAccess {
  return {
    workflowsPlace: client.settings.url,
    commandOptions: commandOptionsOf(client),
    canForce: false,
    workflows: (detail) => listWorkflows(client, detail),
    runs: (filter) => runsOf(client, filter),
    summary: async (word) => (await findRun(client, word)).summary,
    view: async (word) => viewRun(client, (await findRun(client, word)).summary),
    logs: (word, request) => remoteLogs(client, word, request),
    meant: async (word) => {
      const { summary, byWorkflow } = await findRun(client, word);
      if (byWorkflow) return { last: summary, active: await activeRunsOf(client, word) };
      return { last: summary, active: isFinished(summary) ? [] : [summary] };
    },
    stop: (runId, request) => stop(client, runId, request),
    declareLost: async () => {
      throw new WfError('usage', 'a daemon does not accept --owner-gone', {
        help: 'use wf stop --owner-gone on the machine of the daemon',
      });
    },
    untilOver: async (runId) => {
      const signal = new AbortController().signal;
      for await (const _ of followRun(client, { runId, after: 0, signal }, null));
      return summaryOf(client, runId);
    },
    mark: (word, mark) => markStep(client, word, mark),
  };
}

/** Returns the options by which another command reaches the same daemon; empty if it is configured. */
export function commandOptionsOf({ settings: { url, source } }: DaemonClient): string {
  return source === '--server' ? ` --server ${url}` : '';
}

/** Returns a run by its id. */
export async function summaryOf({ get, settings }: DaemonClient, runId: string): Promise<RunSummary> {
  return readSummary(await get(`/runs/${segment(runId)}`), settings);
}

async function runsOf(client: DaemonClient, filter: RunFilter): Promise<readonly RunSummary[]> {
  const runs = await listRuns(client, filter);
  if (runs.length > 0 || filter.workflow === null) return runs;
  const { workflow } = filter;
  if ((await lastRunOf(client, workflow)) === null && !(await hasWorkflow(client, workflow))) {
    await findRun(client, workflow);
  }
  return runs;
}

async function viewRun(client: DaemonClient, summary: RunSummary): Promise<RunView> {
  const run = await readRemoteRun(client, summary);
  const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
  const tails = await Promise.all(
    failed.slice(0, mostTails).map(async ({ name, attempts }) => {
      return [
        name,
        attempts === 0 ? [] : await readRemoteTail(client, { runId: run.runId, step: name, attempt: attempts }),
      ] as const;
    }),
  );
  const names = failed.map(({ name }) => name);
  return {
    summary,
    state: run.state,
    workflow: run.workflow,
    places: locateSteps(run.sources, names),
    tails: new Map(tails),
    ...(await maskedOf(client, summary)),
  };
}

/** The maximum number of failed steps in a recap. */
const mostTails = 20;

async function stop(client: DaemonClient, runId: string, { force }: StopRequest): Promise<StopAnswer> {
  if (force) {
    throw new WfError('usage', 'a daemon does not accept --force', {
      help: 'stop it without --force, or use wf stop --force on the machine of the daemon',
    });
  }
  return { result: await stopRemotely(client, runId), forced: false };
}

/** Asks a daemon to stop a run. */
export async function stopRemotely(client: DaemonClient, runId: string): Promise<StopAnswer['result']> {
  try {
    const { status } = await client.post(`/runs/${segment(runId)}/stop`, null);
    return status === 202 ? 'asked' : 'canceled';
  } catch (error) {
    if (error instanceof WfError && error.code === 'conflict') return 'over';
    throw error;
  }
}

async function markStep(client: DaemonClient, word: string, { step, status }: StepMark): Promise<RunSummary> {
  const { summary } = await findRun(client, word);
  const path = `/runs/${segment(summary.runId)}/steps/${segment(step)}/mark`;
  return readSummary((await client.post(path, { status })).body, client.settings);
}
