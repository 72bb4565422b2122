import { type Handler, jsonReply } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/info`. */
export function showInfo({ info }: V2Parts): Handler {
  return ({ access }) => jsonReply({ ...info(), access });
}

/** `GET /api/v2/config`. */
export function showConfig({ settings }: V2Parts): Handler {
  return () => jsonReply(settings());
}
