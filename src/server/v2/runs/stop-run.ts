import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

/** `POST /api/v2/runs/{id}/stop`. */
export function stopRun(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) => {
    const found = await findRun(id, parts);
    const { result } = await parts.runs.stop(found.runId, { by: 'the API', kill: 'never' });
    parts.runIndex.touch();
    if (result === 'over') throw new HttpError(409, `the run ${found.runId} has already finished`);
    const run = (await parts.history.read(found.runId)) ?? found;
    return jsonReply(parts.history.summarize(run), result === 'asked' ? 202 : 200);
  };
}
