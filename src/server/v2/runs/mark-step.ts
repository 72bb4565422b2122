import type { MarkedStatus } from '../../../core/run/run.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import { bodyFields, textField } from '../body-fields.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

/** `POST /api/v2/runs/{id}/steps/{step}/mark`. */
export function markStep(parts: V2Parts): Handler {
  return async ({ params: { id = '', step = '' }, body }) => {
    const status = statusOf(textField(bodyFields(body, ['status']), 'status'));
    const { runId: found } = await findRun(id, parts);
    const run = await parts.runs.mark(found, { step, status, by: 'the API' });
    parts.runIndex.touch(found);
    return jsonReply(run);
  };
}

function statusOf(word: string | null): MarkedStatus {
  if (word === 'succeeded' || word === 'failed') return word;
  throw new HttpError(400, '"status" must be "succeeded" or "failed"');
}
