import { basename } from 'node:path';
import type { RetrySelection } from '#core/run/retry.ts';
import type { ApprovalAnswer, MarkedStatus, Param } from '#core/run/run.ts';
import { parseParams } from '#language/formats.ts';
import { onlyWaitingStep } from '#service/control-runs.ts';
import { type FindLines, type ListedWorkflow, lineFinder } from '#service/workflows.ts';
import { createSlices } from '#system/turns.ts';
import { acceptedRun, actorOf, answererOf, isStartOf, shownSource, shownWorkflow } from '../both-versions.ts';
import { prefers } from '../reply/send.ts';
import { type ApiRequest, HttpError, jsonReply, readBody, readQuery } from '../route.ts';
import { runOfHandle, type V1Handler, type V1Parts } from './v1-parts.ts';
import { errorOf, tagsOf, workflowView } from './workflow-view.ts';

/** An action request, and the names of its client in approvals, and in stops and marks. */
type V1Action = ActionFields & { readonly answerer: string; readonly by: string };

type Action = (listed: ListedWorkflow, fields: V1Action, parts: V1Parts) => Promise<object> | object;

const actions: { readonly [name: string]: Action } = {
  start,
  stop,
  retry,
  suspend,
  'mark-success': (listed, fields, parts) => mark('succeeded', listed, fields, parts),
  'mark-failed': (listed, fields, parts) => mark('failed', listed, fields, parts),
  approve: (listed, fields, parts) => answer('approved', listed, fields, parts),
  reject: (listed, fields, parts) => answer('rejected', listed, fields, parts),
  save,
  rename,
};

/** `POST /api/v1/dags/{name}`: performs an action on a workflow. */
export const actOnDag: V1Handler = async (request, parts) => {
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

function unknownAction(action: string, known: readonly string[]): HttpError {
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

async function mark(status: MarkedStatus, listed: ListedWorkflow, fields: V1Action, parts: V1Parts): Promise<object> {
  const runId = requireField(fields, 'requestId', 'request-id');
  const step = requireField(fields, 'step', 'step');
  await refreshed(parts);
  await runOfHandle(runId, listed, parts);
  await parts.runs.mark(runId, { step, status, by: fields.by });
  return {};
}

/** Answers a step that waits for approval; its inputs are `params`, the remark is `value`. */
async function answer(
  decision: ApprovalAnswer,
  listed: ListedWorkflow,
  fields: V1Action,
  parts: V1Parts,
): Promise<object> {
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

const AROUND = 2;
const MOST_MATCHES = 20;

const yamlTypes = ['text/yaml', 'application/yaml', 'text/x-yaml', 'application/x-yaml'];

/** `POST /api/v1/dags`: creates a workflow. */
export const createDag: V1Handler = async (request, { workflows }) => {
  const fields = actionFields(request);
  if (fields.action !== 'new') throw unknownAction(fields.action, ['new']);
  return jsonReply({ DagID: basename(await workflows.create(requireField(fields, 'value', 'value'))) });
};

/** `DELETE /api/v1/dags/{name}`: removes the file of a workflow and keeps its past runs. */
export const deleteDag: V1Handler = async ({ params: { name = '' } }, { workflows }) => {
  await workflows.remove(workflows.get(name));
  return jsonReply({});
};

/** `GET /api/v1/dags/{name}/spec`: the text of a workflow, as plain YAML if the client prefers that. */
export const showSpec: V1Handler = ({ params: { name = '' }, headers, access }, parts) => {
  const listed = parts.workflows.get(name);
  const text = shownSource(listed, access, parts.workflows) ?? '';
  if (prefers(headers.accept, yamlTypes, ['application/json'])) {
    return { status: 200, headers: { 'Content-Type': 'text/yaml; charset=utf-8', Vary: 'Accept' }, body: text };
  }
  const error = errorOf(listed, access, parts);
  return jsonReply({ Definition: text, Errors: error === null ? [] : [error] });
};

/** `GET /api/v1/search?q=`: the workflows with a line that matches a regular expression, ignoring case. */
export const searchDags: V1Handler = async ({ query, access }, parts) => {
  const { q } = readQuery('v1SearchDags', query);
  const find = lineFinder(q, { ignoreCase: true }, parts.searchLines);
  const pause = createSlices();
  const Results: object[] = [];
  for (const listed of parts.workflows.list()) {
    await pause();
    const Matches = await matchesIn(shownSource(listed, access, parts.workflows) ?? '', find);
    if (Matches.length === 0) continue;
    const workflow = shownWorkflow(listed, parts.workflows);
    const dag = { ...workflowView(listed, workflow), Location: listed.file };
    Results.push({ Name: parts.workflows.nameOf(listed).replace(/\.ya?ml$/i, ''), DAG: dag, Matches });
  }
  return jsonReply({ Results, Errors: [] });
};

/** `GET /api/v1/tags`: every tag of a workflow, in lower case, sorted. */
export const listTags: V1Handler = (_, { workflows }) => {
  const tags = new Set(workflows.list().flatMap(({ workflow }) => tagsOf(workflow)));
  return jsonReply({ Tags: [...tags].sort(), Errors: [] });
};

async function matchesIn(text: string, find: FindLines): Promise<readonly object[]> {
  const lines = text.split(/\r?\n/);
  const found = (await find(lines.join('\n'))).slice(0, MOST_MATCHES);
  return found.map((index) => {
    const first = Math.max(0, index - AROUND);
    const Line = lines.slice(first, index + AROUND + 1).join('\n');
    return { Line, LineNumber: index + 1, StartLine: first + 1 };
  });
}

/** An action request of the v1 API. An empty text: not given. */
type ActionFields = {
  readonly action: string;
  readonly value: string;
  readonly requestId: string;
  readonly step: string;
  /** Null: not given, so that defaults apply. */
  readonly params: readonly Param[] | null;
};

/** Returns the fields of a form or a JSON object, with `action` also from the query. Throws an `HttpError` 400 for another body. */
function actionFields({ body, query }: ApiRequest): ActionFields {
  const fields = readBody('v1ActOnDag', body);
  const text = (value: string | number | boolean | null) => String(value ?? '');
  const params = text(fields.params);
  return {
    action: text(fields.action ?? query.get('action')),
    value: text(fields.value),
    requestId: text(fields['request-id'] ?? fields.requestId),
    step: text(fields.step),
    params: params.trim() === '' ? null : parseParams(params),
  };
}

function requireField(fields: ActionFields, key: 'value' | 'requestId' | 'step', name: string): string {
  if (fields[key] !== '') return fields[key];
  throw new HttpError(400, `"${name}" is missing, which "${fields.action}" needs`);
}
