import { diagnosticJson } from '../../../render/views/diagnostic-json.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';

/** `POST /api/v2/validate`. */
export function validate({ check }: V2Parts): Handler {
  return async ({ body }) => {
    const { isValid, diagnostics } = await check(typeof body === 'string' ? body : '');
    return jsonReply({
      files: [{ file: '-', valid: isValid, diagnostics: diagnostics.map(diagnosticJson) }],
    });
  };
}
