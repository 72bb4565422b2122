import { isStartOf } from '../../accepted-run.ts';
import { readBody } from '../../requests.ts';
import type { Handler } from '../../route.ts';
import { readParams } from '../params-field.ts';
import type { V2Parts } from '../parts.ts';
import { acceptedReply } from './accepted.ts';

/** `POST /api/v2/workflows/{name}/runs`. */
export function startRun(parts: V2Parts): Handler {
  return async ({ params: { name = '' }, body }) => {
    const { file } = parts.workflows.get(name);
    const { params, runId, strict } = readBody('startRun', body);
    const order = { params: readParams(params), runId, strict, trigger: 'api' } as const;
    const accepted = await parts.runs.start({ workflow: { name: file }, ...order });
    return acceptedReply(accepted, isStartOf(file), parts);
  };
}
