import { readQuery } from '../../requests.ts';
import { type Handler, jsonReply } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/activity`. */
export function showActivity({ history, clock }: Pick<V2Parts, 'history' | 'clock'>): Handler {
  return async ({ query }) => {
    const { hours } = readQuery('showActivity', query);
    const counts = await history.countByHour({ now: clock.now(), hours });
    return jsonReply({ hours: counts.map(({ from, statuses }) => ({ from: new Date(from), statuses })) });
  };
}
