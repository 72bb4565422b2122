import { readBody } from '../../requests.ts';
import { type Handler, HttpError, jsonReply } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/queue`. */
export function showQueue(parts: V2Parts): Handler {
  return async () => {
    await parts.runIndex.refresh();
    return jsonReply(queueJson(parts));
  };
}

/** `PUT /api/v2/queue/{id}`. */
export function moveInQueue(parts: V2Parts): Handler {
  return async ({ params: { id = '' }, body }) => {
    readBody('moveInQueue', body);
    const { runId } = await namedRun(id, parts);
    await parts.runIndex.refresh();
    if (!parts.putFirst(runId)) throw new HttpError(409, `the run ${runId} does not wait`);
    return jsonReply(queueJson(parts));
  };
}

function queueJson({ queue, runIndex }: V2Parts): object {
  const { limit, running, waiting } = queue();
  const heads = (runIds: readonly string[]) => runIds.flatMap((runId) => runIndex.headOf(runId) ?? []);
  return { limit: Number.isFinite(limit) ? limit : null, running: heads(running), waiting: heads(waiting) };
}
