import { drawRun } from '../../../service/history/draw-run.ts';
import { runViewJson } from '../../../service/history/run-view-json.ts';
import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { entityTag } from '../../reply/send.ts';
import { exampleRunView } from '../examples.ts';
import { runId } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

const operation: Operation = {
  id: 'viewRun',
  tag: 'Runs',
  summary: 'Shows a run with its graph, attempts and sources',
  description:
    'What `wf report` draws, without the logs: the run, its steps with their attempts, its graph with the positions of steps in the files, the texts of these files, in which secrets are `***`, and the runs of sub-workflows. The stream of all changes keeps it up to date: `run` and `warnings` replace the keys of that name, `step` a step or handler. The answer has an `ETag`; a request with it in `If-None-Match` is answered with 304 until something changes.',
  parameters: [runId],
  answers: {
    200: json('The present state of the run.', ref('RunView'), exampleRunView),
    304: { description: 'Nothing has changed.' },
  },
  problems: { 404: 'Unknown run.' },
};

/** `GET /api/v2/runs/{id}/view`. */
export function runViewRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/runs/{id}/view',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: async ({ params: { id = '' } }) => {
      const drawn = await drawRun(await findRun(id, parts), parts.history);
      const body = `${JSON.stringify(runViewJson(drawn))}\n`;
      return { status: 200, headers: { ETag: entityTag(body), 'Cache-Control': 'private, no-cache' }, body };
    },
    operation,
  };
}
