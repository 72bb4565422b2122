import type { DescribedRoute, Operation } from '../../docs/operation.ts';
import { runId } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

const operation: Operation = {
  id: 'deleteRun',
  tag: 'Runs',
  summary: 'Removes a run that has finished, with its logs',
  parameters: [runId],
  answers: { 204: { description: 'The run is removed.' } },
  problems: { 404: 'There is no such run.', 409: 'The run has not finished, or another process holds it.' },
};

/** `DELETE /api/v2/runs/{id}`. */
export function deleteRunRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'DELETE',
    path: '/api/v2/runs/{id}',
    access: 'write',
    body: 'none',
    errors: 'problem',
    handle: async ({ params: { id = '' } }) => {
      const { runId: found } = await findRun(id, parts);
      await parts.removeRun(found);
      parts.board.touch();
      return { status: 204, body: null };
    },
    operation,
  };
}
