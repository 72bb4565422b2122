import { diagnosticJson } from '../../../render/views/diagnostic-json.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';

/** `POST /api/v2/validate`. */
export function validate({ workflows }: V2Parts): Handler {
  return async ({ body, query }) => {
    const name = query.get('workflow');
    const beside = name === null ? null : workflows.get(name).file;
    const { isValid, diagnostics } = await workflows.check(typeof body === 'string' ? body : '', beside);
    return jsonReply({
      files: [{ file: '-', valid: isValid, diagnostics: diagnostics.map(diagnosticJson) }],
    });
  };
}
