import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { V2Parts } from '../parts.ts';

const operation: Operation = {
  id: 'showQueue',
  tag: 'Daemon',
  summary: 'Lists waiting and running runs',
  answers: {
    200: json('As it is at the moment.', ref('RunQueue'), { limit: 4, running: [], waiting: [] }),
  },
};

/** `GET /api/v2/queue`. */
export function queueRoute({ queue, board }: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/queue',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: async () => {
      await board.refresh();
      const { limit, running, waiting } = queue();
      const heads = (runIds: readonly string[]) => runIds.flatMap((runId) => board.headOf(runId) ?? []);
      return jsonReply({
        limit: Number.isFinite(limit) ? limit : null,
        running: heads(running),
        waiting: heads(waiting),
      });
    },
    operation,
  };
}
