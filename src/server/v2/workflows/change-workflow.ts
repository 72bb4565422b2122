import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { bodyFields, flagField, textField } from '../body-fields.ts';
import { workflowName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { conditionProblems, expectedText, ifMatch } from './conditions.ts';

const noWorkflow = { 404: 'There is no such workflow.', 409: 'The name is that of several workflows.' };
const common = { access: 'write', errors: 'problem' } as const;

const renaming: Operation = {
  id: 'renameWorkflow',
  tag: 'Workflows',
  summary: 'Renames the file of a workflow, or moves it to another group',
  description:
    'A suspended schedule stays suspended. Past runs stay with the old name. A group is a subdirectory, which is created if it does not exist.',
  parameters: [workflowName, ifMatch],
  body: {
    description: 'The new name.',
    isRequired: true,
    schema: ref('RenameRequest'),
    example: { to: 'nightly-etl' },
  },
  answers: {
    200: json('What it is called now.', ref('RenamedWorkflow'), {
      id: 'nightly-etl.yaml',
      file: '/srv/wf/dags/nightly-etl.yaml',
    }),
  },
  problems: {
    ...noWorkflow,
    409: 'The name is that of several workflows, or the new one is taken.',
    ...conditionProblems,
    422: 'The file would be invalid in the other directory, which `diagnostics` explains. Nothing is changed.',
  },
};

const removing: Operation = {
  id: 'deleteWorkflow',
  tag: 'Workflows',
  summary: 'Removes the file of a workflow',
  description: 'Its past runs stay.',
  parameters: [workflowName, ifMatch],
  answers: { 204: { description: 'The file is removed.' } },
  problems: { ...noWorkflow, ...conditionProblems },
};

const suspending: Operation = {
  id: 'suspendWorkflow',
  tag: 'Workflows',
  summary: 'Suspends the schedule of a workflow, or resumes it',
  description: 'A suspended workflow is not started by its schedule. It can be started by a request.',
  parameters: [workflowName],
  body: {
    description: 'Whether it is suspended.',
    isRequired: true,
    schema: ref('SuspendRequest'),
    example: { suspended: true },
  },
  answers: { 200: json('As it is now.', ref('SuspendRequest'), { suspended: true }) },
  problems: noWorkflow,
};

/** `POST /api/v2/workflows/{name}/rename`. */
export function renameWorkflowRoute({ names, editor, catalog }: V2Parts): DescribedRoute {
  return {
    ...common,
    method: 'POST',
    path: '/api/v2/workflows/{name}/rename',
    body: 'form-or-json',
    handle: async (request) => {
      const listed = names.find(request.params['name'] ?? '');
      const fields = bodyFields(request.body, ['to', 'group']);
      const to = textField(fields, 'to');
      const group = fields['group'] === '' ? '' : textField(fields, 'group');
      if (to === null) throw new HttpError(400, '"to" is missing', { help: 'it is the new name' });
      const file = await editor.rename(listed, to, {
        check: expectedText(request),
        ...(group === null ? {} : { group }),
      });
      const renamed = catalog.list().find((each) => each.file === file);
      if (renamed === undefined) throw new HttpError(409, 'the file was removed again');
      return jsonReply({ id: names.nameOf(renamed), file });
    },
    operation: renaming,
  };
}

/** `DELETE /api/v2/workflows/{name}`. */
export function deleteWorkflowRoute({ names, editor }: V2Parts): DescribedRoute {
  return {
    ...common,
    method: 'DELETE',
    path: '/api/v2/workflows/{name}',
    body: 'none',
    handle: async (request) => {
      const listed = names.find(request.params['name'] ?? '');
      await editor.remove(listed, expectedText(request));
      return { status: 204, body: null };
    },
    operation: removing,
  };
}

/** `PUT /api/v2/workflows/{name}/suspended`. */
export function suspendWorkflowRoute({ names, suspensions }: V2Parts): DescribedRoute {
  return {
    ...common,
    method: 'PUT',
    path: '/api/v2/workflows/{name}/suspended',
    body: 'form-or-json',
    handle: ({ params: { name = '' }, body }) => {
      const { file } = names.find(name);
      const fields = bodyFields(body, ['suspended']);
      if (fields['suspended'] === undefined) throw new HttpError(400, '"suspended" must be true or false');
      const suspended = flagField(fields, 'suspended');
      suspensions.set(file, suspended);
      return jsonReply({ suspended });
    },
    operation: suspending,
  };
}
