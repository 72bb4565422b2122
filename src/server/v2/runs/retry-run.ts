import type { RetrySelection } from '../../../core/run/retry.ts';
import { type DescribedRoute, type Operation, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { type BodyFields, bodyFields, flagField, textField } from '../body-fields.ts';
import { runId } from '../parameters.ts';
import { paramsField } from '../params-field.ts';
import type { V2Parts } from '../parts.ts';
import { acceptedAnswers, acceptedReply } from './accepted.ts';
import { findRun } from './find-run.ts';

const operation: Operation = {
  id: 'retryRun',
  tag: 'Runs',
  summary: 'Retries the unsuccessful steps of a run',
  description:
    'Starts a new run of the stored workflow, in which successful steps keep their results. With a `runId` the request can be repeated without harm.',
  parameters: [runId],
  body: {
    description: 'Without a body, the unsuccessful steps and all steps after them run.',
    isRequired: false,
    schema: ref('RetryRequest'),
    example: { from: 'load', params: ['DAY=2026-03-02'] },
  },
  answers: acceptedAnswers('a retry of the same run. Its steps and parameters are not compared.'),
  problems: {
    404: 'Unknown run or step.',
    409: 'The run is still running, every step has succeeded, or another run has that id.',
    422: 'The workflow has errors, listed in `diagnostics`.',
    429: 'Too many runs are waiting, or there were too many wrong logins.',
  },
};

/** `POST /api/v2/runs/{id}/retry`. */
export function retryRunRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'POST',
    path: '/api/v2/runs/{id}/retry',
    access: 'write',
    body: 'form-or-json',
    errors: 'problem',
    handle: retryRun(parts),
    operation,
  };
}

function retryRun(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { id = '' }, body }) => {
    const fields = bodyFields(body, ['step', 'from', 'params', 'useFile', 'runId', 'strict']);
    const order = {
      selection: selectionIn(fields),
      params: paramsField(fields['params']),
      useFile: flagField(fields, 'useFile'),
      newRunId: textField(fields, 'runId'),
      strict: flagField(fields, 'strict'),
    };
    const run = await findRun(id, parts);
    const accepted = await parts.desk.retry({ runId: run.runId, ...order });
    if (accepted !== null) return acceptedReply(accepted, ({ retryOf }) => retryOf === run.runId, parts);
    throw new HttpError(409, `there is nothing to retry: every step of the run ${run.runId} succeeded`, {
      help: 'name a step with "step" or "from"',
    });
  };
}

function selectionIn(fields: BodyFields): RetrySelection {
  const step = textField(fields, 'step');
  const from = textField(fields, 'from');
  if (step !== null && from !== null) throw new HttpError(400, '"step" and "from" exclude each other');
  if (step !== null) return { only: step };
  return from === null ? { steps: 'unfinished' } : { from };
}
