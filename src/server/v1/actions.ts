import { basename } from 'node:path';
import type { RetrySelection } from '#core/run/retry.ts';
import type { ApprovalAnswer, MarkedStatus, Param } from '#core/run/run.ts';
import { onlyWaitingStep } from '#service/runs/answering.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import { acceptedRun, isStartOf } from '../accepted-run.ts';
import { actorOf, answererOf } from '../answerer.ts';
import { type ApiRequest, HttpError, jsonReply, type Reply } from '../route.ts';
import { type ActionFields, actionFields, requireField } from './fields.ts';
import { runOfHandle, type V1Parts } from './v1-parts.ts';

/** An action request, and the names of its client in approvals, and in stops and marks. */
type V1Action = ActionFields & { readonly answerer: string; readonly by: string };

type Action = (listed: ListedWorkflow, fields: V1Action, parts: V1Parts) => Promise<object> | object;

const actions: { readonly [name: string]: Action } = {
  start,
  stop,
  retry,
  suspend,
  'mark-success': (listed, fields, parts) => mark(listed, { fields, status: 'succeeded' }, parts),
  'mark-failed': (listed, fields, parts) => mark(listed, { fields, status: 'failed' }, parts),
  approve: (listed, fields, parts) => answer(listed, { fields, decision: 'approved' }, parts),
  reject: (listed, fields, parts) => answer(listed, { fields, decision: 'rejected' }, parts),
  save,
  rename,
};

/** `POST /api/v1/dags/{name}`: performs an action on a workflow. */
export function actOnDag(parts: V1Parts): (request: ApiRequest) => Promise<Reply> {
  return async (request) => {
    const listed = parts.workflows.get(request.params['name'] ?? '');
    const fields = actionFields(request);
    const action = Object.hasOwn(actions, fields.action) ? actions[fields.action] : undefined;
    if (action === undefined) throw unknownAction(fields.action, Object.keys(actions));
    const { visitor } = request;
    const names = { answerer: answererOf(visitor), by: actorOf(visitor) };
    try {
      return jsonReply(await action(listed, { ...fields, ...names }, parts));
    } finally {
      parts.runIndex.touch();
    }
  };
}

/** Creates the error for an unknown or missing action. */
export function unknownAction(action: string, known: readonly string[]): HttpError {
  const message = action === '' ? '"action" is missing' : `there is no action "${action}"`;
  return new HttpError(400, message, { help: `actions: ${known.join(', ')}` });
}

async function start({ file }: ListedWorkflow, { params, requestId }: ActionFields, parts: V1Parts): Promise<object> {
  const runId = requestId === '' ? null : requestId;
  const accepted = await parts.runs.start({ workflow: { name: file }, params, runId, trigger: 'api' });
  const run = await acceptedRun(accepted, isStartOf(file), parts);
  return { RequestId: run.runId };
}

/** Stops the given run, or every active run. */
async function stop(listed: ListedWorkflow, { requestId, by }: V1Action, parts: V1Parts): Promise<object> {
  const { runIndex, runs } = parts;
  await refreshed(parts);
  if (requestId !== '') await runOfHandle(requestId, listed, parts);
  const ids = requestId === '' ? runIndex.activeOf(listed.file).map(({ runId }) => runId) : [requestId];
  const results = await Promise.all(ids.map((runId) => runs.stop(runId, { by, kill: 'never' })));
  if (results.some(({ result }) => result !== 'over')) return {};
  const what = requestId === '' ? `no run of "${listed.name}"` : `the run ${requestId}`;
  throw new HttpError(400, `${what} is ${requestId === '' ? '' : 'not '}active`);
}

async function retry(listed: ListedWorkflow, fields: ActionFields, parts: V1Parts): Promise<object> {
  const runId = requireField(fields, 'requestId', 'request-id');
  await refreshed(parts);
  const { past } = await runOfHandle(runId, listed, parts);
  // Clients of this API cannot request the file, which alone contains secrets that were not stored.
  const useFile = past.stored?.masked === true;
  const order = { runId, params: fields.params, useFile, newRunId: null, trigger: 'api' } as const;
  const selections = fields.step === '' ? retrySelections : [{ only: fields.step }];
  for (const selection of selections) {
    const accepted = await parts.runs.retry({ ...order, selection });
    if (accepted !== null) return { RequestId: accepted.runId };
  }
  throw new HttpError(400, `there is nothing to retry: the run ${runId} has no steps`);
}

/** The unsuccessful steps; if all succeeded, every step. */
const retrySelections: readonly RetrySelection[] = [{ steps: 'unfinished' }, { steps: 'all' }];

function suspend({ file }: ListedWorkflow, fields: ActionFields, { workflows }: V1Parts): object {
  const value = requireField(fields, 'value', 'value');
  if (value !== 'true' && value !== 'false') throw new HttpError(400, '"value" must be "true" or "false"');
  workflows.suspend(file, value === 'true' ? Number.POSITIVE_INFINITY : null);
  return {};
}

type MarkAction = { readonly fields: V1Action; readonly status: MarkedStatus };

async function mark(listed: ListedWorkflow, { fields, status }: MarkAction, parts: V1Parts): Promise<object> {
  const runId = requireField(fields, 'requestId', 'request-id');
  const step = requireField(fields, 'step', 'step');
  await refreshed(parts);
  await runOfHandle(runId, listed, parts);
  await parts.runs.mark(runId, { step, status, by: fields.by });
  return {};
}

type AnswerAction = { readonly fields: V1Action; readonly decision: ApprovalAnswer };

/** Answers a step that waits for approval; its inputs are `params`, the remark is `value`. */
async function answer(listed: ListedWorkflow, { fields, decision }: AnswerAction, parts: V1Parts): Promise<object> {
  const runId = requireField(fields, 'requestId', 'request-id');
  await refreshed(parts);
  const { past } = await runOfHandle(runId, listed, parts);
  const step = fields.step === '' ? onlyWaitingStep(parts.history.summarize(past)) : fields.step;
  const inputs = Object.fromEntries((fields.params ?? []).map(inputOf));
  await parts.runs.answer(runId, { step, decision, by: fields.answerer, comment: fields.value, inputs });
  return {};
}

function inputOf({ name, value }: Param): readonly [string, string] {
  if (name !== null) return [name, value];
  const help = 'such as params="WHY=now"; a comment is "value"';
  throw new HttpError(400, `the inputs in "params" need names: "${value}" has none`, { help });
}

async function save(listed: ListedWorkflow, fields: ActionFields, { workflows }: V1Parts): Promise<object> {
  await workflows.save(listed, requireField(fields, 'value', 'value'));
  return {};
}

async function rename(listed: ListedWorkflow, fields: ActionFields, { workflows }: V1Parts): Promise<object> {
  return { NewDagID: basename(await workflows.rename(listed, requireField(fields, 'value', 'value'))) };
}

/** Refreshes the index, so that it contains the newest runs. */
async function refreshed({ runIndex }: V1Parts): Promise<void> {
  runIndex.touch();
  await runIndex.refresh();
}
