import type { Reply } from '../route.ts';

/** Creates a JSON response. */
export function jsonReply(value: unknown, status = 200): Reply {
  return { status, body: `${JSON.stringify(value)}\n` };
}
