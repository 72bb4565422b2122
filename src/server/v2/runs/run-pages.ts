import { headOf } from '#core/summary/summarize.ts';
import type { RunHead, RunSummary } from '#core/summary/summary.ts';
import type { RunFilter, RunPlace } from '#service/history/select-runs.ts';
import type { Queries } from '../../generated/requests.mjs';
import { readQuery } from '../../requests.ts';
import { type ApiRequest, type Handler, jsonReply, type Reply } from '../../route.ts';
import { badCursor, readCursor, readMoment, requirePeriod, toCursor } from '../request-fields.ts';
import type { V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/runs`. */
export function listRunsRoute(parts: V2Parts): Handler {
  return ({ query }) => {
    const { workflow, ...filters } = readQuery('listRuns', query);
    return pageReply(filters, workflow, parts);
  };
}

/** `GET /api/v2/workflows/{name}/runs`. */
export function listRunsOfWorkflowRoute(parts: V2Parts): Handler {
  return ({ params: { name = '' }, query }: ApiRequest) =>
    pageReply(readQuery('listRunsOfWorkflow', query), parts.workflows.get(name).file, parts);
}

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
    behind: readPlace(query.cursor),
    limit: Number.POSITIVE_INFINITY,
  };
  const mostRead = query.partial ? MAX_READ_RUNS : Number.POSITIVE_INFINITY;
  const runs: (RunHead | RunSummary)[] = [];
  let last: RunPlace | null = null;
  let read = 0;
  for await (const run of history.list(wanted)) {
    const summary = history.summarize(run);
    const isFound = isWanted(summary, query);
    if ((isFound && runs.length === query.limit) || read === mostRead) {
      return jsonReply({ runs, nextCursor: last && toCursor([last.at, last.runId]) });
    }
    if (isFound) runs.push(query.steps ? summary : headOf(summary));
    last = history.placeOf(run);
    read += 1;
  }
  return jsonReply({ runs, nextCursor: null });
}

/** The filters that need the run itself. */
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
export function readPlace(cursor: string | null): RunPlace | null {
  const place = readCursor(cursor);
  if (place === null) return null;
  const [at, runId] = place;
  if (typeof at !== 'number' || typeof runId !== 'string') throw badCursor();
  return { at, runId };
}
