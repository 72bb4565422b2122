import type { StepAnswerOrder } from '#service/service.ts';
import { answererOf } from '../../answerer.ts';
import { readBody } from '../../requests.ts';
import { type ApiRequest, type Handler, jsonReply, type Reply } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';

type Decision = Pick<StepAnswerOrder, 'decision' | 'comment' | 'inputs'>;

/** `POST /api/v2/runs/{id}/steps/{step}/approve`. */
export function approveStepRoute(parts: V2Parts): Handler {
  return (request) => {
    const { inputs, comment } = readBody('approveStep', request.body);
    const given = Object.entries(inputs ?? {}).map(([name, value]) => [name, String(value)]);
    const decided = { decision: 'approved', comment: comment ?? '', inputs: Object.fromEntries(given) } as const;
    return answer(request, decided, parts);
  };
}

/** `POST /api/v2/runs/{id}/steps/{step}/reject`. */
export function rejectStepRoute(parts: V2Parts): Handler {
  return (request) => {
    const { reason } = readBody('rejectStep', request.body);
    return answer(request, { decision: 'rejected', comment: reason ?? '', inputs: {} }, parts);
  };
}

async function answer({ params, visitor }: ApiRequest, decided: Decision, parts: V2Parts): Promise<Reply> {
  const { runId } = await namedRun(params['id'] ?? '', parts);
  const order = { ...decided, step: params['step'] ?? '', by: answererOf(visitor) };
  const run = await parts.runs.answer(runId, order);
  parts.runIndex.touch(runId);
  return jsonReply(run);
}
