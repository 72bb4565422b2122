import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

/** `GET /api/v2/runs/{id}`. */
export function showRun(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) => jsonReply(parts.history.summarize(await findRun(id, parts)));
}
