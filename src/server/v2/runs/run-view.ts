import { drawRun } from '../../../service/history/draw-run.ts';
import { runViewJson } from '../../../service/history/run-view-json.ts';
import { entityTag } from '../../reply/send.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

/** `GET /api/v2/runs/{id}/view`. */
export function viewRun(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) => {
    const drawn = await drawRun(await findRun(id, parts), parts.history);
    const body = `${JSON.stringify(runViewJson(drawn))}\n`;
    return { status: 200, headers: { ETag: entityTag(body), 'Cache-Control': 'private, no-cache' }, body };
  };
}
