import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { exampleWorkflowDetail } from '../examples.ts';
import { workflowName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { detailView } from './workflow-view.ts';

const operation: Operation = {
  id: 'showWorkflow',
  tag: 'Workflows',
  summary: 'Shows a workflow',
  description:
    'What its file says, as written: nothing is evaluated, and secrets are `***`. The `definition` is shown in full to who may change it.',
  parameters: [workflowName],
  answers: { 200: json('The workflow.', ref('WorkflowDetail'), exampleWorkflowDetail) },
  problems: {
    404: 'There is no such workflow.',
    409: 'The name is that of several workflows.',
  },
};

/** `GET /api/v2/workflows/{name}`. */
export function showWorkflowRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/workflows/{name}',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: async ({ params: { name = '' }, access }) => {
      const listed = parts.names.find(name);
      await parts.board.refresh();
      await parts.board.recent.read([listed.file]);
      return jsonReply(detailView(listed, access, parts));
    },
    operation,
  };
}
