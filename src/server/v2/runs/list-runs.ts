import type { RunSummary } from '../../../core/run/summary.ts';
import type { RunFilter, RunPlace } from '../../../service/history/history.ts';
import type { Queries } from '../../generated/requests.mjs';
import { jsonReply } from '../../reply/json-reply.ts';
import { readQuery } from '../../requests.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { badCursor, readCursor, toCursor } from '../cursor.ts';
import { readMoment } from '../moment.ts';
import type { V2Parts } from '../parts.ts';

/** `GET /api/v2/runs`. */
export function listRuns(parts: V2Parts): Handler {
  return ({ query }) => {
    const { workflow, ...filters } = readQuery('listRuns', query);
    return pageReply(filters, workflow, parts);
  };
}

/** `GET /api/v2/workflows/{name}/runs`. */
export function listRunsOfWorkflow(parts: V2Parts): Handler {
  return ({ params: { name = '' }, query }: ApiRequest) =>
    pageReply(readQuery('listRunsOfWorkflow', query), parts.names.find(name).file, parts);
}

async function pageReply(
  { status, from, to, limit, cursor }: Queries['listRunsOfWorkflow'],
  workflow: string | null,
  { history }: V2Parts,
): Promise<Reply> {
  const wanted: RunFilter = {
    workflow,
    statuses: status,
    from: readMoment('from', from),
    to: readMoment('to', to),
    behind: readPlace(cursor),
    // One more, to detect another page.
    limit: limit + 1,
  };
  const runs: RunSummary[] = [];
  let last: RunPlace | null = null;
  for await (const run of history.list(wanted)) {
    if (runs.length === limit) return jsonReply({ runs, nextCursor: last && toCursor([last.at, last.runId]) });
    runs.push(history.summarize(run));
    last = history.placeOf(run);
  }
  return jsonReply({ runs, nextCursor: null });
}

/** Reads the start of a page of runs; null: the first page. Throws an `HttpError` 400. */
export function readPlace(cursor: string | null): RunPlace | null {
  const place = readCursor(cursor);
  if (place === null) return null;
  const [at, runId] = place;
  if (typeof at !== 'number' || typeof runId !== 'string') throw badCursor();
  return { at, runId };
}
