import { jsonReply } from '../../reply/json-reply.ts';
import { readBody } from '../../requests.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

/** `POST /api/v2/runs/{id}/steps/{step}/mark`. */
export function markStep(parts: V2Parts): Handler {
  return async ({ params: { id = '', step = '' }, body }) => {
    const { status } = readBody('markStep', body);
    const { runId: found } = await findRun(id, parts);
    const run = await parts.runs.mark(found, { step, status, by: 'the API' });
    parts.runIndex.touch(found);
    return jsonReply(run);
  };
}
