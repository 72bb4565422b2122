import type { RetrySelection } from '../../../core/run/retry.ts';
import { HttpError } from '../../reply/http-error.ts';
import type { Handler } from '../../route.ts';
import { type BodyFields, bodyFields, flagField, textField } from '../body-fields.ts';
import { paramsField } from '../params-field.ts';
import type { V2Parts } from '../parts.ts';
import { acceptedReply } from './accepted.ts';
import { findRun } from './find-run.ts';

/** `POST /api/v2/runs/{id}/retry`. */
export function retryRun(parts: V2Parts): Handler {
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
    const accepted = await parts.runs.retry({ runId: run.runId, trigger: 'api', ...order });
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
