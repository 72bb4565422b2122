import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { exampleRun } from '../examples.ts';
import { runId } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

const operation: Operation = {
  id: 'showRun',
  tag: 'Runs',
  summary: 'Shows a run',
  description: 'The same JSON as `wf status --json` prints.',
  parameters: [runId],
  answers: { 200: json('The present state of the run.', ref('RunSummary'), exampleRun) },
  problems: { 404: 'Unknown run.' },
};

/** `GET /api/v2/runs/{id}`. */
export function showRunRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/runs/{id}',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: async ({ params: { id = '' } }) => jsonReply(parts.history.summarize(await findRun(id, parts))),
    operation,
  };
}
