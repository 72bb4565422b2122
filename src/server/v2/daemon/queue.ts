import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';

/** `GET /api/v2/queue`. */
export function showQueue({ queue, runIndex }: V2Parts): Handler {
  return async () => {
    await runIndex.refresh();
    const { limit, running, waiting } = queue();
    const heads = (runIds: readonly string[]) => runIds.flatMap((runId) => runIndex.headOf(runId) ?? []);
    return jsonReply({
      limit: Number.isFinite(limit) ? limit : null,
      running: heads(running),
      waiting: heads(waiting),
    });
  };
}
