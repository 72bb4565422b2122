import { isStartOf } from '../../accepted-run.ts';
import type { Handler } from '../../route.ts';
import { bodyFields, flagField, textField } from '../body-fields.ts';
import { paramsField } from '../params-field.ts';
import type { V2Parts } from '../parts.ts';
import { acceptedReply } from './accepted.ts';

/** `POST /api/v2/workflows/{name}/runs`. */
export function startRun(parts: V2Parts): Handler {
  return async ({ params: { name = '' }, body }) => {
    const { file } = parts.names.find(name);
    const fields = bodyFields(body, ['params', 'runId', 'strict']);
    const params = paramsField(fields['params']);
    const runId = textField(fields, 'runId');
    const strict = flagField(fields, 'strict');
    const accepted = await parts.runs.start({ workflow: { name: file }, params, runId, trigger: 'api', strict });
    return acceptedReply(accepted, isStartOf(file), parts);
  };
}
