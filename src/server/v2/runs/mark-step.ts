import type { MarkedStatus } from '../../../core/run/run.ts';
import { type DescribedRoute, json, type Operation, type Parameter, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { bodyFields, textField } from '../body-fields.ts';
import { exampleRun } from '../examples.ts';
import { runId, stepName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

const step: Parameter = { ...stepName, description: 'The name of a step. Handlers cannot be marked.' };

const operation: Operation = {
  id: 'markStep',
  tag: 'Runs',
  summary: 'Marks a step of a finished run as succeeded or failed',
  parameters: [runId, step],
  body: {
    description: 'The new status of the step.',
    isRequired: true,
    schema: ref('MarkRequest'),
    example: { status: 'succeeded' },
  },
  answers: { 200: json('The run with the new status.', ref('RunSummary'), exampleRun) },
  problems: { 404: 'Unknown run or step.', 409: 'The run is still running.' },
};

/** `POST /api/v2/runs/{id}/steps/{step}/mark`. */
export function markStepRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'POST',
    path: '/api/v2/runs/{id}/steps/{step}/mark',
    access: 'write',
    body: 'form-or-json',
    errors: 'problem',
    handle: markStep(parts),
    operation,
  };
}

function markStep(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { id = '', step = '' }, body }) => {
    const status = statusOf(textField(bodyFields(body, ['status']), 'status'));
    const { runId: found } = await findRun(id, parts);
    const run = await parts.mark(found, { step, status, by: 'the API' });
    parts.board.touch(found);
    return jsonReply(parts.history.summarize(run));
  };
}

function statusOf(word: string | null): MarkedStatus {
  if (word === 'succeeded' || word === 'failed') return word;
  throw new HttpError(400, '"status" must be "succeeded" or "failed"');
}
