import { diagnosticJson } from '../../../render/views/diagnostic-json.ts';
import { type DescribedRoute, json, type Operation } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { exampleDiagnostic } from '../examples.ts';
import type { V2Parts } from '../parts.ts';
import { checkedSchema } from '../schemas.ts';

const operation: Operation = {
  id: 'validate',
  tag: 'Workflows',
  summary: 'Reports the problems of a workflow text',
  description:
    'Nothing is kept or run. What the text imports is looked for in the workflows directory, and never outside of it.',
  body: {
    description: 'The text of a workflow file.',
    isRequired: false,
    schema: { type: 'string' },
    example: 'steps:\n  - name: one\n    comand: echo one\n',
  },
  answers: {
    200: json('Every problem of the text, as `wf validate --json` prints them.', checkedSchema, {
      files: [{ file: '-', valid: false, diagnostics: [exampleDiagnostic] }],
    }),
  },
};

/** `POST /api/v2/validate`. */
export function validateRoute({ check }: V2Parts): DescribedRoute {
  return {
    method: 'POST',
    path: '/api/v2/validate',
    // Who may only look has nothing to try out; large texts are read one after the other.
    access: 'write',
    body: 'text',
    errors: 'problem',
    handle: async ({ body }) => {
      const { isValid, diagnostics } = await check(typeof body === 'string' ? body : '');
      return jsonReply({
        files: [{ file: '-', valid: isValid, diagnostics: diagnostics.map(diagnosticJson) }],
      });
    },
    operation,
  };
}
