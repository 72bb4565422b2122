import type { ClientSettings } from '#config/login-settings.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { noSchedule, type Schedule } from '#core/workflow.ts';
import type { RunFilter } from '#service/history/select-runs.ts';
import type { RunView, Service, WorkflowEntry } from '#service/service.ts';
import { WfError } from '#system/errors.ts';
import { createDaemonClient, type DaemonClient, segment } from './daemon-client.ts';
import { followRun } from './events/event-feed.ts';
import { remoteLogs } from './logs/remote-logs.ts';
import { remoteRunLogs } from './logs/remote-run-logs.ts';
import { readSummary } from './read-summary.ts';
import { createRemoteActions } from './remote-actions.ts';
import { readRemoteRun } from './remote-run.ts';
import {
  activeRunsOf,
  findRemoteRun,
  hasWorkflow,
  lastRunOf,
  listRemoteRuns,
  nextPage,
  summaryOf,
} from './remote-runs.ts';
import { maskedOf } from './remote-workflow.ts';
import { isObject, type JsonMap, listIn, numberIn, objectIn, textIn } from './transport/json-fields.ts';
import { diagnosticOf } from './transport/problem-error.ts';
import { type ClientLimits, clientLimits, createTransport } from './transport/transport.ts';

/** Creates a client of the configured daemon. `tell` receives lines for the user while the daemon does not answer. */
export function openDaemon(
  settings: ClientSettings,
  tell: DaemonClient['tell'],
  limits: Partial<ClientLimits> = {},
): DaemonClient {
  return createDaemonClient(createTransport(settings, { ...clientLimits, ...limits }), tell);
}

/** Creates the service of a daemon. */
export function createRemoteService(client: DaemonClient): Service {
  return {
    commandOptions: commandOptionsOf(client),
    workflows: { location: client.settings.url, list: (detail) => listRemoteWorkflows(client, detail) },
    runs: {
      ...createRemoteActions(client),
      repeatedStopKills: false,
      find: async (reference) => (await findRemoteRun(client, reference)).summary,
      view: async (reference) => viewRun(client, (await findRemoteRun(client, reference)).summary),
      list: (filter) => runsOf(client, filter),
      active: async (reference, prefer) => {
        const last = prefer === 'workflow' ? await lastRunOf(client, reference) : null;
        if (last !== null) return { last, active: await activeRunsOf(client, reference) };
        const { summary, byWorkflow } = await findRemoteRun(client, reference);
        if (byWorkflow) return { last: summary, active: await activeRunsOf(client, reference) };
        return { last: summary, active: isFinished(summary) ? [] : [summary] };
      },
      ended: async (runId) => {
        const signal = new AbortController().signal;
        for await (const _ of followRun(client, { runId, after: 0, signal }, null));
        return summaryOf(client, runId);
      },
      logs: (reference, request) => remoteLogs(client, reference, request),
      declareLost: async () => {
        throw new WfError('usage', 'a daemon does not accept --owner-gone', {
          help: 'use wf stop --owner-gone on the machine of the daemon',
        });
      },
    },
  };
}

/** Returns the options by which another command reaches the same daemon; empty if it is configured. */
function commandOptionsOf({ settings: { url, source } }: DaemonClient): string {
  return source === '--server' ? ` --server ${url}` : '';
}

async function runsOf(client: DaemonClient, filter: RunFilter): Promise<readonly RunSummary[]> {
  const runs = await listRemoteRuns(client, filter);
  if (runs.length > 0 || filter.workflow === null) return runs;
  const { workflow } = filter;
  if ((await lastRunOf(client, workflow)) === null && !(await hasWorkflow(client, workflow))) {
    await findRemoteRun(client, workflow);
  }
  return runs;
}

async function viewRun(client: DaemonClient, summary: RunSummary): Promise<RunView> {
  const logs = remoteRunLogs(client, summary.runId, new AbortController().signal);
  const run = await readRemoteRun(client, summary, logs);
  return {
    summary,
    state: run.state,
    workflow: run.workflow,
    ...(await maskedOf(client, summary)),
  };
}

const mostAtOnce = 1000;

/** Returns the workflows of a daemon. Listings leave out the steps of last runs: `wholeRuns` requests each of these runs. */
async function listRemoteWorkflows(
  client: DaemonClient,
  { wholeRuns }: { readonly wholeRuns: boolean },
): Promise<readonly WorkflowEntry[]> {
  const entries: WorkflowEntry[] = [];
  let cursor: string | null = null;
  do {
    const page: JsonMap = await client.get(`/workflows?${query(cursor)}`);
    for (const workflow of listIn(page, 'workflows').filter(isObject)) entries.push(readEntry(workflow, client));
    cursor = nextPage(page, cursor, client);
  } while (cursor !== null);
  if (!wholeRuns) return entries;
  return Promise.all(entries.map(async (entry) => ({ ...entry, lastRun: await wholeRun(client, entry.lastRun) })));
}

function query(cursor: string | null): URLSearchParams {
  return new URLSearchParams({ limit: String(mostAtOnce), ...(cursor === null ? {} : { cursor }) });
}

/** A run with its steps; lists have no failures. */
async function wholeRun({ get, settings }: DaemonClient, run: RunSummary | null): Promise<RunSummary | null> {
  if (run === null) return null;
  const { failures, moreFailures, ...summary } = readSummary(await get(`/runs/${segment(run.runId)}`), settings);
  return summary;
}

function readEntry(workflow: JsonMap, { settings }: DaemonClient): WorkflowEntry {
  const lastRun = objectIn(workflow, 'lastRun');
  return {
    name: textIn(workflow, 'name') ?? '',
    group: textIn(workflow, 'group') ?? '',
    file: textIn(workflow, 'file') ?? '',
    description: textIn(workflow, 'description') ?? '',
    tags: textsIn(workflow, 'tags'),
    queue: textIn(objectIn(workflow, 'queue') ?? {}, 'name'),
    schedule: readSchedule(objectIn(workflow, 'schedule') ?? {}),
    next: textIn(workflow, 'next'),
    suspended: workflow['suspended'] === true,
    suspendedUntil: textIn(workflow, 'suspendedUntil'),
    lastRun: lastRun === null ? null : readSummary(lastRun, settings),
    medianMs: numberIn(workflow, 'medianMs'),
    diagnostics: listIn(workflow, 'diagnostics').filter(isObject).map(diagnosticOf),
  };
}

function readSchedule(schedule: JsonMap): Schedule {
  const overlap = textIn(schedule, 'overlap');
  const catchup = textIn(schedule, 'catchup');
  return {
    start: textsIn(schedule, 'start'),
    stop: textsIn(schedule, 'stop'),
    restart: textsIn(schedule, 'restart'),
    timeZone: textIn(schedule, 'timeZone'),
    overlap: overlap === 'queue' || overlap === 'all' ? overlap : noSchedule.overlap,
    catchup: catchup === 'latest' || catchup === 'all' ? catchup : noSchedule.catchup,
    catchupWindowMs: numberIn(schedule, 'catchupWindowMs'),
  };
}

function textsIn(from: JsonMap, field: string): readonly string[] {
  return listIn(from, field).filter((text) => typeof text === 'string');
}
