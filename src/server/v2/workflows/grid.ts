import type { StepStatus } from '#core/run/run.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { handlerKind } from '#core/workflow.ts';
import { anyRun } from '#service/history/history.ts';
import type { RunPlace } from '#service/history/select-runs.ts';
import { readQuery } from '../../requests.ts';
import { type ApiRequest, type Handler, jsonReply, type Reply } from '../../route.ts';
import { toCursor } from '../request-fields.ts';
import { readPlace } from '../runs/run-pages.ts';
import type { V2Parts } from '../v2-parts.ts';

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
const noStep = '-';

/** `GET /api/v2/workflows/{name}/grid`. */
export function workflowGrid(parts: V2Parts): Handler {
  return (request) => gridReply(request, parts);
}

async function gridReply({ params, query }: ApiRequest, { workflows, history }: V2Parts): Promise<Reply> {
  const { file } = workflows.get(params['name'] ?? '');
  const { limit, cursor } = readQuery('workflowGrid', query);
  const runs: RunSummary[] = [];
  let last: RunPlace | null = null;
  let nextCursor: string | null = null;
  for await (const run of history.list({ ...anyRun, workflow: file, behind: readPlace(cursor), limit: limit + 1 })) {
    if (runs.length < limit) {
      runs.push(history.summarize(run));
      last = history.placeOf(run);
    } else if (last !== null) nextCursor = toCursor([last.at, last.runId]);
  }
  return jsonReply({ ...gridOf(runs), nextCursor });
}

/** Steps in the order of the newest run, then those of older runs only, then handlers. */
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
