import { setTimeout as pause } from 'node:timers/promises';
import type { RunSummary } from '../core/run/summary.ts';
import { isNotFound, WfError } from '../errors.ts';
import type { RunFilter } from '../service/history/history.ts';
import { type DaemonClient, segment } from './daemon-client.ts';
import { readSummary } from './read-summary.ts';
import { notUnderstood } from './transport/connection-problem.ts';
import { isObject, type JsonMap, listIn, textIn } from './transport/json-fields.ts';
import { createPatience } from './transport/patience.ts';

const mostAtOnce = 500;

/** A run, and whether it was named by its workflow. */
export type MeantRun = { readonly summary: RunSummary; readonly byWorkflow: boolean };

/**
 * The run that a word means. Ids and `@latest` are the daemon's to find; it takes no workflow for a run, since what is its last
 * run now need not be when it is asked for. Throws a `WfError`: `not-found`, or `usage` when several runs are meant.
 */
export async function findRun(client: DaemonClient, word: string): Promise<MeantRun> {
  try {
    const summary = readSummary(await client.get(`/runs/${segment(word)}`), client.settings);
    return { summary, byWorkflow: false };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const last = await lastRunOf(client, word);
    if (last === null) throw withoutApiHelp(error);
    return { summary: last, byWorkflow: true };
  }
}

/** The last run of a workflow, by its name or file; null where it has none. */
export async function lastRunOf(client: DaemonClient, workflow: string): Promise<RunSummary | null> {
  const [last = null] = await listRuns(client, { ...everyRun, workflow, limit: 1 });
  return last;
}

/** The runs that go on or wait under a name, newest first. */
export function activeRunsOf(client: DaemonClient, workflow: string): Promise<readonly RunSummary[]> {
  return listRuns(client, { ...everyRun, workflow, statuses: ['queued', 'running', 'canceling', 'handling'] });
}

/** Runs, newest first, as many pages as it takes. */
export async function listRuns(client: DaemonClient, filter: RunFilter): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = [];
  let cursor: string | null = null;
  while (runs.length < filter.limit) {
    const query = queryOf(filter, Math.min(mostAtOnce, filter.limit - runs.length), cursor);
    const page: JsonMap = await client.get(`/runs?${query}`);
    const found = listIn(page, 'runs').filter(isObject);
    for (const run of found) runs.push(readSummary(run, client.settings));
    if (found.length === 0 || runs.length >= filter.limit) break;
    cursor = nextPage(page, cursor, client);
    if (cursor === null) break;
  }
  return runs;
}

/**
 * The run that a word means, once there is one: a workflow that has not run yet is waited for, which `tell` is told. Throws as
 * `findRun` does.
 */
export async function awaitRun(client: DaemonClient, word: string, tell: (line: string) => void): Promise<RunSummary> {
  try {
    return (await findRun(client, word)).summary;
  } catch (error) {
    if (!isNotFound(error) || !(await hasWorkflow(client, word))) throw error;
  }
  tell(`waiting for the first run of "${word}"`);
  const patience = createPatience(client);
  for (;;) {
    try {
      const run = await lastRunOf(client, word);
      if (run !== null) return run;
      patience.refresh();
      await pause(lookMs);
    } catch (error) {
      await patience.wait(error, new AbortController().signal);
    }
  }
}

/** How often it is looked for a run that does not exist yet. */
const lookMs = 1000;

/** What to ask the next page with; null on the last. Throws a `WfError` `unreachable` for pages that go in a circle. */
export function nextPage(page: JsonMap, before: string | null, { settings }: DaemonClient): string | null {
  const cursor = textIn(page, 'nextCursor');
  if (cursor === null || cursor !== before) return cursor;
  throw notUnderstood(settings, 'its pages do not end');
}

/** Whether the daemon has a workflow of that name. */
export async function hasWorkflow(client: DaemonClient, name: string): Promise<boolean> {
  try {
    await client.get(`/workflows/${segment(name)}`);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

const everyRun = { workflow: null, statuses: null, from: null, to: null, limit: Number.POSITIVE_INFINITY } as const;

function queryOf({ workflow, statuses, from, to }: RunFilter, limit: number, cursor: string | null): URLSearchParams {
  return new URLSearchParams({
    limit: String(limit),
    ...(workflow === null ? {} : { workflow }),
    ...(statuses === null ? {} : { status: statuses.join(',') }),
    ...(from === null ? {} : { from: new Date(from).toISOString() }),
    ...(to === null ? {} : { to: new Date(to).toISOString() }),
    ...(cursor === null ? {} : { cursor }),
  });
}

/** The daemon speaks to programs; whoever types a command has other ways. */
function withoutApiHelp({ message, help }: WfError): WfError {
  return new WfError('not-found', message, {
    help: help === null || help.includes('/api/v2') ? 'wf history lists the runs' : help,
  });
}
