import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { exampleRun } from '../examples.ts';
import { runId } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

const operation: Operation = {
  id: 'stopRun',
  tag: 'Runs',
  summary: 'Stops a run',
  description:
    'Stops the run of any process: no further step starts, running steps are ended, handlers still run. The request is stored on the disk before the response.',
  parameters: [runId],
  answers: {
    200: json('The waiting run is canceled.', ref('RunSummary')),
    202: json('The run is stopping.', ref('RunSummary'), { ...exampleRun, status: 'canceling' }),
  },
  problems: { 404: 'Unknown run.', 409: 'The run has already finished.' },
};

/** `POST /api/v2/runs/{id}/stop`. */
export function stopRunRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'POST',
    path: '/api/v2/runs/{id}/stop',
    access: 'write',
    body: 'none',
    errors: 'problem',
    handle: stopRun(parts),
    operation,
  };
}

function stopRun(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { id = '' } }) => {
    const found = await findRun(id, parts);
    const result = await parts.desk.stop(found.runId, 'the API');
    parts.board.touch();
    if (result === 'over') throw new HttpError(409, `the run ${found.runId} has already finished`);
    const run = (await parts.history.read(found.runId)) ?? found;
    return jsonReply(parts.history.summarize(run), result === 'asked' ? 202 : 200);
  };
}
