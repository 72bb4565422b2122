import { type Handler, jsonReply } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/info`. */
export function showInfo({ info, loopLag, disk }: V2Parts): Handler {
  return async ({ access }) => jsonReply({ ...info(), access, eventLoopLagMs: loopLag(), disk: await disk() });
}

/** `GET /api/v2/config`. */
export function showConfig({ settings }: V2Parts): Handler {
  return () => jsonReply(settings());
}
