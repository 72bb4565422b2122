import type { Reply } from '../route.ts';

/** A value as the answer. */
export function jsonReply(value: unknown, status = 200): Reply {
  return { status, body: `${JSON.stringify(value)}\n` };
}
