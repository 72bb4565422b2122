import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

/** `DELETE /api/v2/runs/{id}`. */
export function deleteRun(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) => {
    const { runId: found } = await findRun(id, parts);
    await parts.removeRun(found);
    parts.runIndex.touch();
    return { status: 204, body: null };
  };
}
