import type { RetrySelection } from '#core/run/retry.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { AcceptedRun } from '#service/service.ts';
import { acceptedRun, isStartOf } from '../../accepted-run.ts';
import { actorOf } from '../../answerer.ts';
import type { Bodies } from '../../generated/requests.mjs';
import { readBody } from '../../requests.ts';
import { type Handler, HttpError, jsonReply, type Reply } from '../../route.ts';
import { readParams } from '../request-fields.ts';
import { namedRun, runIdToRemove, type V2Parts } from '../v2-parts.ts';

/** `POST /api/v2/workflows/{name}/runs`. */
export function startRunRoute(parts: V2Parts): Handler {
  return async ({ params: { name = '' }, body }) => {
    const { file } = parts.workflows.get(name);
    const { params, runId, strict } = readBody('startRun', body);
    const order = { params: readParams(params), runId, strict, trigger: 'api' } as const;
    const accepted = await parts.runs.start({ workflow: { name: file }, ...order });
    return acceptedReply(accepted, isStartOf(file), parts);
  };
}

/** `POST /api/v2/runs/{id}/stop`. */
export function stopRunRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '' }, body, visitor }) => {
    const { force } = readBody('stopRun', body);
    const found = await namedRun(id, parts);
    const { result } = await parts.runs.stop(found.runId, {
      by: actorOf(visitor),
      kill: force ? 'now' : 'never',
    });
    parts.runIndex.touch();
    if (result === 'over') throw new HttpError(409, `the run ${found.runId} has already finished`);
    const run = (await parts.history.read(found.runId)) ?? found;
    return jsonReply(parts.history.summarize(run), result === 'asked' ? 202 : 200);
  };
}

/** `POST /api/v2/runs/{id}/retry`. */
export function retryRunRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '' }, body }) => {
    const { params, useFile, runId, strict, ...chosen } = readBody('retryRun', body);
    const order = { selection: selectionOf(chosen), params: readParams(params), useFile, newRunId: runId, strict };
    const run = await namedRun(id, parts);
    const accepted = await parts.runs.retry({ runId: run.runId, trigger: 'api', ...order });
    // A retry of a retry that never started is one of the run before it.
    const isSame = ({ retryOf }: RunSummary) =>
      retryOf === run.runId || (retryOf !== null && retryOf === run.state.retryOf);
    if (accepted !== null) return acceptedReply(accepted, isSame, parts);
    throw new HttpError(409, `there is nothing to retry: every step of the run ${run.runId} succeeded`, {
      help: 'name a step with "step" or "from"',
    });
  };
}

function selectionOf({ step, from }: Pick<Bodies['retryRun'], 'step' | 'from'>): RetrySelection {
  if (step !== null && from !== null) throw new HttpError(400, '"step" and "from" exclude each other');
  if (step !== null) return { only: step };
  return from === null ? { steps: 'unfinished' } : { from };
}

/** `POST /api/v2/runs/{id}/steps/{step}/mark`. */
export function markStepRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '', step = '' }, body, visitor }) => {
    const { status } = readBody('markStep', body);
    const { runId: found } = await namedRun(id, parts);
    const run = await parts.runs.mark(found, { step, status, by: actorOf(visitor) });
    parts.runIndex.touch(found);
    return jsonReply(run);
  };
}

/** `DELETE /api/v2/runs/{id}`. */
export function deleteRunRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) => {
    await parts.removeRun(await runIdToRemove(id, parts));
    parts.runIndex.touch();
    return { status: 204, body: null };
  };
}

/**
 * Returns the response to a start or retry: 201 with the run's location, or 200 for an existing run for which `isSame`
 * holds. Throws as `acceptedRun` does.
 */
async function acceptedReply(
  accepted: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  parts: Pick<V2Parts, 'history' | 'runIndex' | 'basePath'>,
): Promise<Reply> {
  const summary = await acceptedRun(accepted, isSame, parts);
  const location = { Location: `${parts.basePath}/api/v2/runs/${encodeURIComponent(accepted.runId)}` };
  return { status: accepted.isNew ? 201 : 200, headers: location, body: `${JSON.stringify(summary)}\n` };
}
