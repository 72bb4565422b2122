import { given } from '#core/data/collections.ts';
import type { RetrySelection } from '#core/run/retry.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { AcceptedRun, StartOrder, StepAnswerOrder } from '#service/service.ts';
import { WfError } from '#system/errors.ts';
import { acceptedRun, actorOf, answererOf, isStartOf } from '../../both-versions.ts';
import type { Bodies } from '../../generated/requests.mjs';
import { problemCode } from '../../reply/error-reply.ts';
import { type ApiRequest, HttpError, jsonReply, noContent, type Reply, readBody } from '../../route.ts';
import { namedRun, readParams, runIdToRemove, type V2Handler, type V2Parts } from '../v2-parts.ts';

/** `POST /api/v2/workflows/{name}/runs`. */
export const startRun: V2Handler = async ({ params: { name = '' }, body }, parts) => {
  const { file } = parts.workflows.get(name);
  const { params, runId, strict, ...checks } = readBody('startRun', body);
  const order = { params: readParams(params), runId, strict, trigger: 'api', ...checksOf(checks) } as const;
  const accepted = await parts.runs.start({ workflow: { name: file }, ...order });
  return acceptedReply(accepted, isStartOf(file), parts);
};

type AskedChecks = Pick<Bodies['startRun'], 'force' | 'assumeUpToDate' | 'noCache'>;

function checksOf(asked: AskedChecks): Pick<StartOrder, 'force' | 'assumed' | 'isUncached'> {
  const { force, assumeUpToDate, noCache } = asked;
  const forced = typeof force === 'boolean' ? (force ? 'all' : null) : namesIn(force);
  return given({ force: forced, assumed: namesIn(assumeUpToDate), isUncached: noCache ? true : null });
}

function namesIn(written: string | readonly string[] | null): readonly string[] | null {
  return typeof written === 'string' ? [written] : written;
}

/** `POST /api/v2/runs/{id}/stop`. */
export const stopRun: V2Handler = async ({ params: { id = '' }, body, visitor }, parts) => {
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

/** `POST /api/v2/runs/{id}/retry`. */
export const retryRun: V2Handler = async ({ params: { id = '' }, body }, parts) => {
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

function selectionOf({ step, from }: Pick<Bodies['retryRun'], 'step' | 'from'>): RetrySelection {
  if (step !== null && from !== null) throw new HttpError(400, '"step" and "from" exclude each other');
  if (step !== null) return { only: step };
  return from === null ? { steps: 'unfinished' } : { from };
}

/** `POST /api/v2/runs/{id}/steps/{step}/mark`. */
export const markStep: V2Handler = async ({ params: { id = '', step = '' }, body, visitor }, parts) => {
  const { status } = readBody('markStep', body);
  const { runId: found } = await namedRun(id, parts);
  const run = await parts.runs.mark(found, { step, status, by: actorOf(visitor) });
  parts.runIndex.touch(found);
  return jsonReply(run);
};

/** `DELETE /api/v2/runs/{id}`. */
export const deleteRun: V2Handler = async ({ params: { id = '' } }, parts) => {
  await parts.removeRun(await runIdToRemove(id, parts));
  parts.runIndex.touch();
  return noContent();
};

/** 201 with the location of a new run, or 200 for an existing one. Throws as `acceptedRun` does. */
async function acceptedReply(
  accepted: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  parts: Pick<V2Parts, 'history' | 'runIndex' | 'basePath'>,
): Promise<Reply> {
  const summary = await acceptedRun(accepted, isSame, parts);
  const location = { Location: `${parts.basePath}/api/v2/runs/${encodeURIComponent(accepted.runId)}` };
  return { status: accepted.isNew ? 201 : 200, headers: location, body: `${JSON.stringify(summary)}\n` };
}

/** What to do with each run; `by`: the client. */
type Order = { readonly action: Bodies['actOnRuns']['action']; readonly by: string };

/** `POST /api/v2/runs/batch`. */
export const actOnRuns: V2Handler = async ({ body, visitor }, parts) => {
  const { ids, action } = readBody('actOnRuns', body);
  const results: object[] = [];
  const by = actorOf(visitor);
  for (const id of ids) results.push({ id, ...(await tryOne(id, { action, by }, parts)) });
  parts.runIndex.touch();
  return jsonReply({ results });
};

async function tryOne(id: string, order: Order, parts: V2Parts): Promise<object> {
  try {
    return { done: true, runId: await act(id, order, parts), code: null, message: null };
  } catch (error) {
    if (error instanceof WfError) return { done: false, runId: null, code: error.code, message: error.message };
    if (!(error instanceof HttpError)) throw error;
    return { done: false, runId: null, code: problemCode(error.status), message: error.message };
  }
}

/** Returns the id of the affected run, or of the new one. */
async function act(id: string, { action, by }: Order, parts: V2Parts): Promise<string> {
  const runId = action === 'delete' ? await runIdToRemove(id, parts) : (await namedRun(id, parts)).runId;
  switch (action) {
    case 'stop':
      if ((await parts.runs.stop(runId, { by, kill: 'never' })).result !== 'over') return runId;
      throw new WfError('conflict', `the run ${runId} has ended already`);
    case 'delete':
      await parts.removeRun(runId);
      return runId;
    case 'retry': {
      const order = { params: null, useFile: false, newRunId: null, trigger: 'api' } as const;
      const accepted = await parts.runs.retry({ ...order, runId, selection: { steps: 'unfinished' } });
      if (accepted !== null) return accepted.runId;
      throw new WfError('conflict', `there is nothing to retry: every step of the run ${runId} succeeded`);
    }
  }
}

type Decision = Pick<StepAnswerOrder, 'decision' | 'comment' | 'inputs'>;

/** `POST /api/v2/runs/{id}/steps/{step}/approve`. */
export const approveStep: V2Handler = (request, parts) => {
  const { inputs, comment } = readBody('approveStep', request.body);
  const given = Object.entries(inputs ?? {}).map(([name, value]) => [name, String(value)]);
  const decided = { decision: 'approved', comment: comment ?? '', inputs: Object.fromEntries(given) } as const;
  return answer(request, decided, parts);
};

/** `POST /api/v2/runs/{id}/steps/{step}/reject`. */
export const rejectStep: V2Handler = (request, parts) => {
  const { reason } = readBody('rejectStep', request.body);
  return answer(request, { decision: 'rejected', comment: reason ?? '', inputs: {} }, parts);
};

async function answer({ params, visitor }: ApiRequest, decided: Decision, parts: V2Parts): Promise<Reply> {
  const { runId } = await namedRun(params['id'] ?? '', parts);
  const order = { ...decided, step: params['step'] ?? '', by: answererOf(visitor) };
  const run = await parts.runs.answer(runId, order);
  parts.runIndex.touch(runId);
  return jsonReply(run);
}
