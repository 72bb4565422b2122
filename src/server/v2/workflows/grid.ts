import type { StepStatus } from '../../../core/run/run.ts';
import type { RunSummary } from '../../../core/run/summary.ts';
import { handlerKind } from '../../../core/workflow.ts';
import { anyRun, type RunPlace } from '../../../service/history/history.ts';
import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { toCursor } from '../cursor.ts';
import { exampleGrid } from '../examples.ts';
import { cursor, limit, workflowName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { limitIn } from '../query.ts';
import { placeIn } from '../runs/list-runs.ts';

const usualLimit = 60;
const MAX_RUNS = 200;

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
/** For a step that a run does not have. */
const noStep = '-';

const operation: Operation = {
  id: 'workflowGrid',
  tag: 'Workflows',
  summary: 'Lists past runs of a workflow with the status of each step',
  description:
    'Newest first. `cells` has one letter for each of `steps`: `S` succeeded, `F` failed, `K` skipped, `C` canceled, `U` upstream failed, `R` running, `W` waiting, `Q` scheduled, `P` pending, `-` where the run has no such step.',
  parameters: [workflowName, limit(usualLimit, MAX_RUNS), cursor],
  answers: { 200: json('A page of runs.', ref('WorkflowGrid'), exampleGrid) },
  problems: { 404: 'There is no such workflow.', 409: 'The name is that of several workflows.' },
};

/** `GET /api/v2/workflows/{name}/grid`. */
export function workflowGridRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/workflows/{name}/grid',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: (request) => workflowGrid(request, parts),
    operation,
  };
}

async function workflowGrid({ params, query }: ApiRequest, { names, history }: V2Parts): Promise<Reply> {
  const { file } = names.find(params['name'] ?? '');
  const count = limitIn(query, usualLimit, MAX_RUNS);
  const runs: RunSummary[] = [];
  let last: RunPlace | null = null;
  let nextCursor: string | null = null;
  for await (const run of history.list({ ...anyRun, workflow: file, behind: placeIn(query), limit: count + 1 })) {
    if (runs.length < count) {
      runs.push(history.summarize(run));
      last = history.placeOf(run);
    } else if (last !== null) nextCursor = toCursor([last.at, last.runId]);
  }
  return jsonReply({ ...gridOf(runs), nextCursor });
}

/** Steps in the order of the newest run, then those that only older runs have, then handlers. */
function gridOf(runs: readonly RunSummary[]): object {
  const found = new Set(runs.flatMap(({ steps, handlers }) => [...steps, ...handlers].map(({ name }) => name)));
  const isHandler = (name: string) => Number(handlerKind(name) !== null);
  const names = [...found].sort((a, b) => isHandler(a) - isHandler(b));
  return {
    steps: names,
    runs: runs.map(({ runId, status, createdAt, durationMs, steps, handlers }) => {
      const statuses = new Map([...steps, ...handlers].map((step) => [step.name, step.status]));
      const cells = names.map((name) => {
        const own = statuses.get(name);
        return own === undefined ? noStep : letters[own];
      });
      return { runId, status, createdAt, durationMs, cells: cells.join('') };
    }),
  };
}
