import { setTimeout as pause } from 'node:timers/promises';
import type { ClientSettings } from '#config/part-settings.ts';
import { given } from '#core/data/collections.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { noSchedule, type Schedule } from '#core/workflow.ts';
import type { BackfillView } from '#service/backfill.ts';
import type { RunFilter } from '#service/history.ts';
import {
  type AcceptedRun,
  newRunId,
  type RetryOrder,
  type RunActions,
  type RunView,
  type Service,
  type StartOrder,
  type StopAnswer,
  type StopOptions,
  type WorkflowEntry,
} from '#service/service.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import { failedAs, WfError } from '#system/errors.ts';
import { type Answer, type ClientLimits, clientLimits, DaemonClient, Patience, segment } from './daemon-client.ts';
import { followRun } from './event-feed.ts';
import { type JsonMap, numberIn, objectIn, objectsIn, textIn, textsIn } from './json-fields.ts';
import { diagnosticOf } from './problem-error.ts';
import { readBackfill, readLock, readSummary } from './read-summary.ts';
import { remoteLogs, remoteRunLogs } from './remote-logs.ts';
import {
  activeRunsOf,
  findRemoteRun,
  hasWorkflow,
  lastRunOf,
  listRemoteRuns,
  nextPage,
  readRemoteRun,
  summaryOf,
} from './remote-runs.ts';
import { maskedOf, sourcesOfWorkflow } from './remote-workflow.ts';

/** Creates a client of the configured daemon. `tell` receives lines for the user while the daemon does not answer. */
export function openDaemon(
  settings: ClientSettings,
  tell: DaemonClient['tell'],
  limits: Partial<ClientLimits> = {},
): DaemonClient {
  return new DaemonClient(settings, tell, { ...clientLimits, ...limits });
}

/** Creates the service of a daemon. */
export function createRemoteService(client: DaemonClient): Service {
  const { url, source } = client.settings;
  return {
    commandOptions: source === '--server' ? ` --server ${url}` : '',
    workflows: { location: url, list: (detail) => listRemoteWorkflows(client, detail) },
    locks: async () => objectsIn(await client.get('/locks'), 'locks').map((lock) => readLock(lock, client.settings)),
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
      // Few commands need them.
      artifacts: async (reference) => (await import('./remote-artifacts.ts')).remoteArtifacts(client, reference),
      logs: (reference, request) => remoteLogs(client, reference, request),
      declareLost: async () => {
        throw new WfError('usage', 'a daemon does not accept --owner-gone', {
          help: 'use wf stop --owner-gone on the machine of the daemon',
        });
      },
    },
  };
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
  const { state, workflow } = await readRemoteRun(client, summary, logs);
  return { summary, state, workflow, ...(await maskedOf(client, summary)) };
}

const MOST_AT_ONCE = 1000;

/** Returns the workflows of a daemon. Listings leave out the steps of last runs: `wholeRuns` requests each of these runs. */
async function listRemoteWorkflows(
  client: DaemonClient,
  { wholeRuns }: { readonly wholeRuns: boolean },
): Promise<readonly WorkflowEntry[]> {
  const entries: WorkflowEntry[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(MOST_AT_ONCE), ...given({ cursor }) });
    const page: JsonMap = await client.get(`/workflows?${query}`);
    entries.push(...objectsIn(page, 'workflows').map((workflow) => readEntry(workflow, client)));
    cursor = nextPage(page, cursor, client);
  } while (cursor !== null);
  if (!wholeRuns) return entries;
  return Promise.all(entries.map(async (entry) => ({ ...entry, lastRun: await wholeRun(client, entry.lastRun) })));
}

/** A run with its steps; lists have no failures. */
async function wholeRun(client: DaemonClient, run: RunSummary | null): Promise<RunSummary | null> {
  if (run === null) return null;
  const { failures, moreFailures, ...summary } = await summaryOf(client, run.runId);
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
    diagnostics: objectsIn(workflow, 'diagnostics').map(diagnosticOf),
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

/** Creates the actions on the runs of a daemon. The client creates the ids of runs, so that each request can be repeated. */
function createRemoteActions(client: DaemonClient): RunActions {
  return {
    start: (order) => start(client, order),
    retry: (order) => retry(client, order),
    stop: (runId, request) => stop(client, runId, request),
    mark: async (runId, { step, status }) => {
      const path = `/runs/${segment(runId)}/steps/${segment(step)}/mark`;
      return readSummary((await client.post(path, { status })).body, client.settings);
    },
    answer: async (runId, { step, decision, comment, inputs }) => {
      const [verb, body] = decision === 'approved' ? ['approve', { inputs, comment }] : ['reject', { reason: comment }];
      const path = `/runs/${segment(runId)}/steps/${segment(step)}/${verb}`;
      return readSummary((await client.post(path, body, { slow: true })).body, client.settings);
    },
  };
}

/** Throws `run-exists` if the id belongs to a run of another workflow. */
async function start(client: DaemonClient, order: StartOrder): Promise<AcceptedRun> {
  const { params, runId, strict, force, assumed, isUncached } = order;
  if (!('name' in order.workflow)) {
    throw new WfError('usage', 'the daemon runs only workflows in its own directory: pass a name');
  }
  const workflow = order.workflow.name;
  const checks = { assumeUpToDate: assumed, noCache: isUncached, force: force === 'all' ? true : force };
  const body = { runId: runId ?? newRunId(), ...given({ params, strict: strict || null, ...checks }) };
  const path = `/workflows/${segment(workflow)}/runs`;
  const ask = () => client.post(path, body, { slow: true });
  return accepted(client, await withSources(client, ask, async () => workflow), runId);
}

async function retry(client: DaemonClient, order: RetryOrder): Promise<AcceptedRun | null> {
  const { runId: retried, selection, params, useFile, newRunId: runId, strict } = order;
  const body = {
    runId: runId ?? newRunId(),
    ...('only' in selection ? { step: selection.only } : 'from' in selection ? { from: selection.from } : {}),
    ...given({ params, strict: strict || null }),
    useFile,
  };
  const ask = () => client.post(`/runs/${segment(retried)}/retry`, body, { slow: true });
  try {
    const answer = await withSources(client, ask, async () => (await summaryOf(client, retried)).workflow);
    return accepted(client, answer, runId);
  } catch (error) {
    // The only possible conflict of a run that succeeded.
    const isConflict = failedAs(error, 'conflict');
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
    if (failedAs(error, 'conflict')) return { result: 'over', forced };
    throw error;
  }
}

/** The pause between two questions about a backfill. */
const ASK_AGAIN_MS = 500;

/**
 * Starts a backfill of a daemon and follows it to its end; `changed` gets each state. With `dryRun` it returns
 * the plan. After the signal is aborted no more runs start.
 */
export async function followBackfill(
  client: DaemonClient,
  { workflow, ...body }: { readonly workflow: string; readonly dryRun: boolean } & Readonly<Record<string, unknown>>,
  { changed, signal }: { readonly changed: (view: BackfillView) => void; readonly signal: AbortSignal },
): Promise<BackfillView> {
  const answer = await client.post(`/workflows/${segment(workflow)}/backfills`, body, { slow: true });
  let view = readBackfill(answer.body, client.settings);
  changed(view);
  const path = `/backfills/${segment(view.id)}`;
  const patience = new Patience(client);
  while (view.finishedAt === null && !body.dryRun) {
    try {
      const isStop = signal.aborted && view.stopped !== true;
      view = readBackfill(await (isStop ? client.remove(path) : client.get(path)), client.settings);
      patience.refresh();
      changed(view);
      if (view.finishedAt === null) await pause(ASK_AGAIN_MS);
    } catch (error) {
      await patience.wait(error, new AbortController().signal);
    }
  }
  return view;
}
