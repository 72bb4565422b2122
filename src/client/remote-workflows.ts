import type { RunSummary } from '../core/run/summary.ts';
import { noSchedule, type Schedule } from '../core/workflow.ts';
import type { WorkflowEntry } from '../service/service.ts';
import { type DaemonClient, segment } from './daemon-client.ts';
import { readSummary } from './read-summary.ts';
import { nextPage } from './remote-runs.ts';
import { isObject, type JsonMap, listIn, numberIn, objectIn, textIn } from './transport/json-fields.ts';
import { diagnosticOf } from './transport/problem-error.ts';

const mostAtOnce = 1000;

/** Returns the workflows of a daemon. Listings leave out the steps of last runs: `wholeRuns` requests each of these runs. */
export async function listRemoteWorkflows(
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

async function wholeRun({ get, settings }: DaemonClient, run: RunSummary | null): Promise<RunSummary | null> {
  return run === null ? null : readSummary(await get(`/runs/${segment(run.runId)}`), settings);
}

function readEntry(workflow: JsonMap, { settings }: DaemonClient): WorkflowEntry {
  const lastRun = objectIn(workflow, 'lastRun');
  return {
    name: textIn(workflow, 'name') ?? '',
    group: textIn(workflow, 'group') ?? '',
    file: textIn(workflow, 'file') ?? '',
    description: textIn(workflow, 'description') ?? '',
    tags: textsIn(workflow, 'tags'),
    schedule: readSchedule(objectIn(workflow, 'schedule') ?? {}),
    next: textIn(workflow, 'next'),
    suspended: workflow['suspended'] === true,
    suspendedUntil: textIn(workflow, 'suspendedUntil'),
    lastRun: lastRun === null ? null : readSummary(lastRun, settings),
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
