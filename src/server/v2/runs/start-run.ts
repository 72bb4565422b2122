import { isStartOf } from '../../accepted-run.ts';
import { type DescribedRoute, type Operation, ref } from '../../docs/operation.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { bodyFields, flagField, textField } from '../body-fields.ts';
import { workflowName } from '../parameters.ts';
import { paramsField } from '../params-field.ts';
import type { V2Parts } from '../parts.ts';
import { acceptedAnswers, acceptedReply } from './accepted.ts';

const operation: Operation = {
  id: 'startRun',
  tag: 'Workflows',
  summary: 'Starts a run',
  description:
    'Responds as soon as the run is on the disk; its status tells whether it is queued. With a `runId` the request can be repeated without harm: if a run with that id exists, it is returned.',
  parameters: [workflowName],
  body: {
    description: 'Without a body, the workflow starts with the defaults of its file.',
    isRequired: false,
    schema: ref('StartRequest'),
    example: { params: { DAY: '2026-03-01' }, runId: 'etl-2026-03-01' },
  },
  answers: acceptedAnswers('a start of the same workflow. Its parameters are not compared.'),
  problems: {
    404: 'Unknown workflow.',
    409: 'The name is that of several workflows, or the id that of a run of another one, or of a retry.',
    422: 'The workflow has errors, listed in `diagnostics`.',
    429: 'Too many runs are waiting, or there were too many wrong logins.',
  },
};

/** `POST /api/v2/workflows/{name}/runs`. */
export function startRunRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'POST',
    path: '/api/v2/workflows/{name}/runs',
    access: 'write',
    body: 'form-or-json',
    errors: 'problem',
    handle: startRun(parts),
    operation,
  };
}

function startRun(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { name = '' }, body }) => {
    const { file } = parts.names.find(name);
    const fields = bodyFields(body, ['params', 'runId', 'strict']);
    const params = paramsField(fields['params']);
    const runId = textField(fields, 'runId');
    const strict = flagField(fields, 'strict');
    const accepted = await parts.desk.start({ workflow: { name: file }, params, runId, trigger: 'api', strict });
    return acceptedReply(accepted, isStartOf(file), parts);
  };
}
