import { runStatuses } from '../../../core/run/run.ts';
import type { RunSummary } from '../../../core/run/summary.ts';
import type { RunFilter, RunPlace } from '../../../service/history/history.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { badCursor, cursorIn, toCursor } from '../cursor.ts';
import type { V2Parts } from '../parts.ts';
import { limitIn, momentIn, wordsIn } from '../query.ts';

const usualLimit = 50;
const mostAtOnce = 500;

/** `GET /api/v2/runs`. */
export function listRuns(parts: V2Parts): Handler {
  return ({ query }) => pageReply(query, query.get('workflow') || null, parts);
}

/** `GET /api/v2/workflows/{name}/runs`. */
export function listRunsOfWorkflow(parts: V2Parts): Handler {
  return ({ params: { name = '' }, query }: ApiRequest) => pageReply(query, parts.names.find(name).file, parts);
}

async function pageReply(query: URLSearchParams, workflow: string | null, { history }: V2Parts): Promise<Reply> {
  const count = limitIn(query, usualLimit, mostAtOnce);
  const wanted: RunFilter = {
    workflow,
    statuses: wordsIn(query, 'status', runStatuses),
    from: momentIn(query, 'from'),
    to: momentIn(query, 'to'),
    behind: placeIn(query),
    // One more, to detect another page.
    limit: count + 1,
  };
  const runs: RunSummary[] = [];
  let last: RunPlace | null = null;
  for await (const run of history.list(wanted)) {
    if (runs.length === count) return jsonReply({ runs, nextCursor: last && toCursor([last.at, last.runId]) });
    runs.push(history.summarize(run));
    last = history.placeOf(run);
  }
  return jsonReply({ runs, nextCursor: null });
}

/** Reads the start of a page of runs; null: the first page. Throws an `HttpError` 400. */
export function placeIn(query: URLSearchParams): RunPlace | null {
  const place = cursorIn(query);
  if (place === null) return null;
  const [at, runId] = place;
  if (typeof at !== 'number' || typeof runId !== 'string') throw badCursor();
  return { at, runId };
}
