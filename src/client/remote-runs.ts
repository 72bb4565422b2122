import { setTimeout as pause } from 'node:timers/promises';
import { given } from '#core/data/collections.ts';
import { isoTimeOrNull } from '#core/summary/summarize.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { foldRun, type RunFilter } from '#service/history.ts';
import type { LoggedRun } from '#service/logs.ts';
import type { RunLogs } from '#store/logs.ts';
import { failedAs, ifFound, WfError } from '#system/errors.ts';
import { type DaemonClient, Patience, segment } from './daemon-client.ts';
import { storedEvents } from './event-feed.ts';
import { type JsonMap, objectsIn, textIn } from './json-fields.ts';
import { notUnderstood } from './problem-error.ts';
import { readSummary } from './read-summary.ts';
import { type RemoteWorkflow, workflowOf } from './remote-workflow.ts';

const MOST_AT_ONCE = 500;

/**
 * Returns the run that a reference names, and whether that names its workflow. The daemon resolves ids and `@latest`, but not workflows, since their last run
 * may change between two requests. Throws a `WfError`: `not-found`, or `usage` if several runs match.
 */
export async function findRemoteRun(client: DaemonClient, word: string) {
  try {
    return { summary: await summaryOf(client, word), byWorkflow: false };
  } catch (error) {
    if (!failedAs(error, 'not-found')) throw error;
    const last = await lastRunOf(client, word);
    if (last === null) throw withoutApiHelp(error);
    // Lists have no failures.
    return { summary: await summaryOf(client, last.runId), byWorkflow: true };
  }
}

/** Returns a run by its id. */
export async function summaryOf(client: DaemonClient, runId: string): Promise<RunSummary> {
  return readSummary(await client.get(`/runs/${segment(runId)}`), client.settings);
}

/** Returns the last run of a workflow, by its name or file; null if it has none. */
export async function lastRunOf(client: DaemonClient, workflow: string): Promise<RunSummary | null> {
  const [last = null] = await listRemoteRuns(client, { ...everyRun, workflow, limit: 1 });
  return last;
}

/** Returns the running and waiting runs of a workflow, newest first. */
export function activeRunsOf(client: DaemonClient, workflow: string): Promise<readonly RunSummary[]> {
  return listRemoteRuns(client, { ...everyRun, workflow, statuses: ['queued', 'running', 'canceling', 'handling'] });
}

/** Returns runs, newest first, from as many pages as needed. */
export async function listRemoteRuns(client: DaemonClient, filter: RunFilter): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = [];
  let cursor: string | null = null;
  while (runs.length < filter.limit) {
    const query = queryOf(filter, Math.min(MOST_AT_ONCE, filter.limit - runs.length), cursor);
    const page: JsonMap = await client.get(`/runs?${query}`);
    const found = objectsIn(page, 'runs');
    for (const run of found) runs.push(readSummary(run, client.settings));
    if (found.length === 0 || runs.length >= filter.limit) break;
    cursor = nextPage(page, cursor, client);
    if (cursor === null) break;
  }
  return runs;
}

/** Returns the run that a reference names; for a workflow without runs, waits for the first and says so. */
export async function awaitRun(client: DaemonClient, word: string, tell: (line: string) => void): Promise<RunSummary> {
  try {
    return (await findRemoteRun(client, word)).summary;
  } catch (error) {
    if (!failedAs(error, 'not-found') || !(await hasWorkflow(client, word))) throw error;
  }
  tell(`waiting for the first run of "${word}"`);
  const patience = new Patience(client);
  for (;;) {
    try {
      const run = await lastRunOf(client, word);
      if (run !== null) return run;
      patience.refresh();
      await pause(POLL_MS);
    } catch (error) {
      await patience.wait(error, new AbortController().signal);
    }
  }
}

const POLL_MS = 1000;

/** Returns the cursor of the next page; null on the last. Throws a `WfError` `unreachable` if a cursor repeats. */
export function nextPage(page: JsonMap, before: string | null, { settings }: DaemonClient): string | null {
  const cursor = textIn(page, 'nextCursor');
  if (cursor === null || cursor !== before) return cursor;
  throw notUnderstood(settings, 'its pages repeat');
}

/** Whether the daemon has a workflow of that name. */
export async function hasWorkflow(client: DaemonClient, name: string): Promise<boolean> {
  return (await ifFound(client.get(`/workflows/${segment(name)}`))) !== null;
}

const everyRun = { workflow: null, statuses: null, from: null, to: null, limit: Number.POSITIVE_INFINITY } as const;

function queryOf(
  { workflow, statuses, from, to, waiting, queue, tag }: RunFilter,
  limit: number,
  cursor: string | null,
): URLSearchParams {
  return new URLSearchParams({
    steps: 'true',
    limit: String(limit),
    ...given({ workflow, status: statuses?.join(','), waiting: waiting ? 'true' : null, queue, tag }),
    ...given({ from: isoTimeOrNull(from), to: isoTimeOrNull(to), cursor }),
  });
}

/** Replaces help about the API by help for commands. */
function withoutApiHelp({ message, help }: WfError): WfError {
  return new WfError('not-found', message, {
    help: help === null || help.includes('/api/v2') ? 'wf history lists the runs' : help,
  });
}

/** A run of a daemon with its present events. */
export type RemoteRun = LoggedRun & RemoteWorkflow & { readonly runId: string };

/** Reads a run of a daemon. */
export async function readRemoteRun(client: DaemonClient, summary: RunSummary, logs: RunLogs): Promise<RemoteRun> {
  const { runId } = summary;
  const { workflow, sources } = await workflowOf(client, summary);
  const events = await storedEvents(client, runId);
  // Events that do not fit are from a newer daemon: the summary contains the outcome of the run.
  return { runId, state: foldRun(workflow, events).state, stored: { events, logs }, workflow, sources };
}
