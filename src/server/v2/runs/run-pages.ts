import { statSync } from 'node:fs';
import type { StepStatus } from '#core/run/run.ts';
import { steps } from '#core/run/run-state.ts';
import { headOf, reachedHandlers } from '#core/summary/summarize.ts';
import type { RunHead, RunSummary } from '#core/summary/summary.ts';
import {
  anyRun,
  drawRun,
  type PastRun,
  type RunFilter,
  type RunPosition,
  runViewJson,
  summarizeWithFailures,
} from '#service/history.ts';
import { stepGrid } from '../../both-versions.ts';
import type { Queries } from '../../generated/requests.mjs';
import { entityTag } from '../../reply/send.ts';
import { type Handler, jsonReply, type Reply, readQuery } from '../../route.ts';
import { liveCursorText } from '../daemon/live-events.ts';
import {
  badCursor,
  namedRun,
  readCursor,
  readMoment,
  requirePeriod,
  toCursor,
  type V2Handler,
  type V2Parts,
} from '../v2-parts.ts';

/** `GET /api/v2/runs`. */
export const listRuns: V2Handler = ({ query }, parts) => {
  const { workflow, ...filters } = readQuery('listRuns', query);
  return pageReply(filters, workflow, parts);
};

/** `GET /api/v2/workflows/{name}/runs`. */
export const listRunsOfWorkflow: V2Handler = ({ params: { name = '' }, query }, parts) =>
  pageReply(readQuery('listRunsOfWorkflow', query), parts.workflows.get(name).file, parts);

/** A partial response reads at most this many runs, so that a filter without matches responds soon. */
const MAX_READ_RUNS = 2000;

async function pageReply(
  query: Queries['listRunsOfWorkflow'],
  workflow: string | null,
  { history }: V2Parts,
): Promise<Reply> {
  const wanted: RunFilter = {
    workflow,
    statuses: query.status,
    unknownToo: query.partial,
    waiting: query.waiting,
    queue: query.queue,
    tag: query.tag,
    ...requirePeriod({ from: readMoment('from', query.from), to: readMoment('to', query.to) }),
    behind: readPosition(query.cursor),
    limit: Number.POSITIVE_INFINITY,
  };
  const mostRead = query.partial ? MAX_READ_RUNS : Number.POSITIVE_INFINITY;
  const runs: (RunHead | RunSummary)[] = [];
  let last: RunPosition | null = null;
  let read = 0;
  for await (const run of history.list(wanted)) {
    const summary = history.summarize(run);
    const isFound = isWanted(summary, query);
    if ((isFound && runs.length === query.limit) || read === mostRead) {
      return jsonReply({ runs, nextCursor: last && toCursor([last.at, last.runId]) });
    }
    if (isFound) runs.push(query.steps ? summary : headOf(summary));
    last = history.positionOf(run);
    read += 1;
  }
  return jsonReply({ runs, nextCursor: null });
}

function isWanted(run: RunSummary, { status, trigger, text, minDuration }: Queries['listRunsOfWorkflow']): boolean {
  return (
    (status === null || status.includes(run.status)) &&
    (trigger === null || trigger.includes(run.trigger)) &&
    (run.durationMs ?? 0) >= 1000 * (minDuration ?? 0) &&
    (text === null || textOf(run).includes(text.toLowerCase()))
  );
}

function textOf({ runId, params, error }: RunSummary): string {
  const values = params.map(({ name, value }) => (name === null ? value : `${name}=${value}`));
  return [runId, ...values, error ?? ''].join('\n').toLowerCase();
}

/** Reads the start of a page of runs; null: the first page. Throws an `HttpError` 400. */
function readPosition(cursor: string | null): RunPosition | null {
  const position = readCursor(cursor);
  if (position === null) return null;
  const [at, runId] = position;
  if (typeof at !== 'number' || typeof runId !== 'string') throw badCursor();
  return { at, runId };
}

/** The ids of the sub-runs of a run, and the files of its workflow. */
type Others = { readonly runIds: readonly string[]; readonly files: readonly string[] };

/** A sent view: it is still current for a client as long as the stamp is the same. */
type SentView = Others & { readonly tag: string; readonly stamp: string; readonly lastEvent: number };

/** Number of remembered views, a few hundred bytes each. */
const MAX_VIEWS = 1000;

/** `GET /api/v2/runs/{id}/view`. */
export function viewRun(parts: V2Parts): Handler {
  const sent = new Map<string, SentView>();
  return async ({ params: { id = '' }, headers: asked }) => {
    // The stream then reports what changes after this, of the run and of others.
    await parts.runIndex.refresh();
    const position = parts.changes.position();
    const cursorAt = (run: number) => liveCursorText(parts.changes, { position, run });
    // Each stamp is read before what it stands for: a change meanwhile makes the view outdated.
    const own = parts.runStamp(id);
    const before = sent.get(id);
    const isKnown = before !== undefined && asked['if-none-match']?.includes(before.tag) === true;
    if (isKnown && before.stamp === `${own} ${stampOf(before, parts)}`)
      return reply(before.tag, cursorAt(before.lastEvent), '');
    const run = await namedRun(id, parts);
    const lastEvent = run.stored?.events.at(-1)?.seq ?? 0;
    const others = othersOf(run);
    const stamp = `${own} ${stampOf(others, parts)}`;
    const body = `${JSON.stringify(runViewJson(await drawRun(run, parts.history)))}\n`;
    const tag = entityTag(body);
    if (sent.size >= MAX_VIEWS) sent.clear();
    // A run without a journal has the stamp of a removed one.
    if (id === run.runId && own !== '') sent.set(id, { ...others, tag, stamp, lastEvent });
    return reply(tag, cursorAt(lastEvent), body);
  };
}

function reply(tag: string, cursor: string, body: string) {
  return { status: 200, headers: { ETag: tag, 'WF-Cursor': cursor, 'Cache-Control': 'private, no-cache' }, body };
}

function othersOf({ state, stored }: PastRun): Others {
  const runIds = [...steps(state), ...reachedHandlers(state)].flatMap(({ child }) => child ?? []);
  return { runIds, files: stored?.sources.map(({ path }) => path) ?? [] };
}

/** Changes with the events of the runs and with the files. */
function stampOf({ runIds, files }: Others, { runStamp }: V2Parts): string {
  const times = files.map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.size}.${stats.mtimeMs}`;
  });
  return [...runIds.map(runStamp), ...times].join(' ');
}

/** `GET /api/v2/runs/{id}`. */
export const showRun: V2Handler = async ({ params: { id = '' } }, parts) => {
  const { history } = parts;
  return jsonReply(await summarizeWithFailures(await history.withWaits(await namedRun(id, parts)), history));
};

/** One letter for each status of a step. */
const letters: { readonly [status in StepStatus]: string } = {
  succeeded: 'S',
  failed: 'F',
  skipped: 'K',
  canceled: 'C',
  upstream_failed: 'U',
  running: 'R',
  waiting: 'W',
  scheduled: 'Q',
  pending: 'P',
};
/** Symbol for a step missing from the run. */
const NO_STEP = '-';

/** `GET /api/v2/workflows/{name}/grid`. */
export const workflowGrid: V2Handler = async ({ params: { name = '' }, query }, { workflows, history }) => {
  const { file } = workflows.get(name);
  const { limit, cursor } = readQuery('workflowGrid', query);
  const runs: RunSummary[] = [];
  let last: RunPosition | null = null;
  let nextCursor: string | null = null;
  for await (const run of history.list({ ...anyRun, workflow: file, behind: readPosition(cursor), limit: limit + 1 })) {
    if (runs.length < limit) {
      runs.push(history.summarize(run));
      last = history.positionOf(run);
    } else if (last !== null) nextCursor = toCursor([last.at, last.runId]);
  }
  const { names, statusesOf } = stepGrid(runs);
  const columns = runs.map((run) => {
    const { runId, status, createdAt, durationMs } = run;
    const cells = statusesOf(run).map((own) => (own === null ? NO_STEP : letters[own]));
    return { runId, status, createdAt, durationMs, cells: cells.join('') };
  });
  return jsonReply({ steps: names, runs: columns, nextCursor });
};
