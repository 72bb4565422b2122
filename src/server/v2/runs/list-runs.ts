import { runStatuses } from '../../../core/run/run.ts';
import type { RunSummary } from '../../../core/run/summary.ts';
import type { RunFilter, RunPlace } from '../../../service/history/history.ts';
import { type DescribedRoute, json, type Operation, type Parameter, ref } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { badCursor, cursorIn, toCursor } from '../cursor.ts';
import { exampleRun } from '../examples.ts';
import { cursor, filter, limit, workflowName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { limitIn, momentIn, wordsIn } from '../query.ts';

const usualLimit = 50;
const mostAtOnce = 500;

const filters: readonly Parameter[] = [
  {
    name: 'status',
    in: 'query',
    description: 'Only those of one of these statuses, separated by commas.',
    schema: { type: 'string', pattern: `^((${runStatuses.join('|')})(,|$))*$` },
    example: 'failed,canceled',
  },
  {
    ...filter('from', 'Only those that were made at that moment or later: `2026-03-01T12:00:00Z`, or a day.'),
    schema: { type: 'string' },
  },
  {
    ...filter('to', 'Only those that were made at that moment or earlier; a day is meant from its start.'),
    schema: { type: 'string' },
  },
  limit(usualLimit, mostAtOnce),
  cursor,
];

const common = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;
const answers = { 200: json('A page of runs.', ref('RunPage'), { runs: [exampleRun], nextCursor: null }) };

const inAll: Operation = {
  id: 'listRuns',
  tag: 'Runs',
  summary: 'Lists runs, newest first',
  parameters: [
    filter('workflow', 'Only those of a workflow, by its name or its file, also one that is gone.', 'etl'),
    ...filters,
  ],
  answers,
};

const ofWorkflow: Operation = {
  id: 'listRunsOfWorkflow',
  tag: 'Workflows',
  summary: 'Lists the runs of a workflow, newest first',
  parameters: [workflowName, ...filters],
  answers,
  problems: { 404: 'Unknown workflow.', 409: 'Several workflows have that name.' },
};

/** `GET /api/v2/runs`. */
export function listRunsRoute(parts: V2Parts): DescribedRoute {
  return {
    ...common,
    path: '/api/v2/runs',
    handle: ({ query }) => listRuns(query, query.get('workflow') || null, parts),
    operation: inAll,
  };
}

/** `GET /api/v2/workflows/{name}/runs`. */
export function listRunsOfWorkflowRoute(parts: V2Parts): DescribedRoute {
  return {
    ...common,
    path: '/api/v2/workflows/{name}/runs',
    handle: ({ params: { name = '' }, query }: ApiRequest) => listRuns(query, parts.names.find(name).file, parts),
    operation: ofWorkflow,
  };
}

async function listRuns(query: URLSearchParams, workflow: string | null, { history }: V2Parts): Promise<Reply> {
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
