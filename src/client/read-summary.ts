import type { ClientSettings } from '#config/part-settings.ts';
import {
  type DotenvUse,
  type FailureReason,
  type Outputs,
  type Param,
  type RunReason,
  runStatuses,
  stepStatuses,
  type Trigger,
} from '#core/run/run.ts';
import type {
  ApprovalSummary,
  Failure,
  Failures,
  InstanceSummary,
  RunSummary,
  StepSummary,
} from '#core/summary/summary.ts';
import type { ItemValue } from '#core/workflow.ts';
import { isObject, type JsonMap, listIn, numberIn, objectIn, textIn } from './json-fields.ts';
import { notUnderstood } from './problem-error.ts';

/**
 * Parses a run sent by a daemon. Unknown fields are dropped; missing optional fields are null or empty. Throws a
 * `WfError` `unreachable` if a required field is missing or has the wrong type.
 */
export function readSummary(run: JsonMap, settings: ClientSettings): RunSummary {
  const owner = objectIn(run, 'owner');
  return {
    runId: required(run, 'runId', settings),
    workflow: required(run, 'workflow', settings),
    group: textIn(run, 'group') ?? '',
    file: textIn(run, 'file'),
    status: statusIn(run, runStatuses, settings),
    reason: textIn(run, 'reason') as RunReason | null,
    error: textIn(run, 'error'),
    trigger: (textIn(run, 'trigger') ?? 'api') as Trigger,
    retryOf: textIn(run, 'retryOf'),
    params: listIn(run, 'params').filter(isObject).map(readParam),
    owner: owner === null ? null : { pid: numberIn(owner, 'pid') ?? 0, host: textIn(owner, 'host') ?? '' },
    createdAt: timeIn(run, 'createdAt', settings) ?? required(run, 'createdAt', settings),
    startedAt: timeIn(run, 'startedAt', settings),
    finishedAt: timeIn(run, 'finishedAt', settings),
    durationMs: numberIn(run, 'durationMs'),
    steps: stepsIn(run, 'steps', settings),
    handlers: stepsIn(run, 'handlers', settings),
    warnings: textsIn(run, 'warnings'),
    ...(run['strict'] === true ? { strict: true } : {}),
    ...(Array.isArray(run['tags']) ? { tags: textsIn(run, 'tags') } : {}),
    ...(typeof run['queue'] === 'string' ? { queue: run['queue'] } : {}),
    ...readAutoRetry(objectIn(run, 'autoRetry')),
    ...(Array.isArray(run['dotenv']) ? { dotenv: listIn(run, 'dotenv').filter(isObject).map(readDotenv) } : {}),
    ...(Array.isArray(run['waitingFor']) ? { waitingFor: textsIn(run, 'waitingFor') } : {}),
    ...readFailures(run, settings),
  };
}

function readFailures(run: JsonMap, settings: ClientSettings): Partial<Failures> {
  if (!Array.isArray(run['failures'])) return {};
  const failures = listIn(run, 'failures').filter(isObject);
  return {
    failures: failures.map((failure) => readFailure(failure, settings)),
    moreFailures: numberIn(run, 'moreFailures') ?? 0,
  };
}

function readFailure(failure: JsonMap, settings: ClientSettings): Failure {
  const position = objectIn(failure, 'place');
  const file = position === null ? null : textIn(position, 'file');
  return {
    path: textsIn(failure, 'path'),
    runId: required(failure, 'runId', settings),
    step: required(failure, 'step', settings),
    key: textIn(failure, 'key'),
    reason: textIn(failure, 'reason') as FailureReason | null,
    error: textIn(failure, 'error') ?? 'failed',
    exitCode: numberIn(failure, 'exitCode'),
    signal: textIn(failure, 'signal'),
    attempts: numberIn(failure, 'attempts') ?? 0,
    ...wordIn(failure, 'tolerated', ['failure', 'exitCode', 'output']),
    ...(failure['kept'] === true ? { kept: true } : {}),
    place:
      position === null || file === null
        ? null
        : { file, line: numberIn(position, 'line') ?? 1, column: numberIn(position, 'column') ?? 1 },
    lines: textsIn(failure, 'lines'),
    log: textIn(failure, 'log'),
    command: textIn(failure, 'command'),
    ...(typeof failure['note'] === 'string' ? { note: failure['note'] } : {}),
  };
}

function readAutoRetry(retry: JsonMap | null): Pick<RunSummary, 'autoRetry'> {
  if (retry === null) return {};
  const { n, limit } = { n: numberIn(retry, 'n') ?? 0, limit: numberIn(retry, 'limit') ?? 0 };
  return { autoRetry: { n, limit, at: textIn(retry, 'at') } };
}

function stepsIn(run: JsonMap, field: string, settings: ClientSettings): readonly StepSummary[] {
  return listIn(run, field)
    .filter(isObject)
    .map((step) => readStep(step, settings));
}

function readStep(step: JsonMap, settings: ClientSettings): StepSummary {
  return {
    name: required(step, 'name', settings),
    status: statusIn(step, stepStatuses, settings),
    reason: textIn(step, 'reason') as FailureReason | null,
    error: textIn(step, 'error'),
    attempts: numberIn(step, 'attempts') ?? 0,
    exitCode: numberIn(step, 'exitCode'),
    signal: textIn(step, 'signal'),
    startedAt: timeIn(step, 'startedAt', settings),
    finishedAt: timeIn(step, 'finishedAt', settings),
    durationMs: numberIn(step, 'durationMs'),
    outputs: readOutputs(objectIn(step, 'outputs') ?? {}),
    log: textIn(step, 'log'),
    ...readContainer(objectIn(step, 'container')),
    ...readService(objectIn(step, 'service')),
    ...(typeof step['child'] === 'string' ? { child: step['child'] } : {}),
    ...wordIn(step, 'tolerated', ['failure', 'exitCode', 'output']),
    ...(typeof step['repetitions'] === 'number' ? { repetitions: step['repetitions'] } : {}),
    ...wordIn(step, 'waitingFor', ['retry', 'repeat', 'approval']),
    ...readApproval(objectIn(step, 'approval'), settings),
    ...(Array.isArray(step['items']) ? { items: readInstances(step, settings) } : {}),
  };
}

function readInstances(step: JsonMap, settings: ClientSettings): readonly InstanceSummary[] {
  const instances = listIn(step, 'items').filter(isObject);
  return instances.map((instance, position) => ({
    key: textIn(instance, 'key') ?? '',
    index: numberIn(instance, 'index') ?? position,
    item: (instance['item'] ?? '') as ItemValue,
    ...readStep(instance, settings),
  }));
}

function readContainer(container: JsonMap | null): Pick<StepSummary, 'container'> {
  const id = container === null ? null : textIn(container, 'id');
  return container === null || id === null ? {} : { container: { id, image: textIn(container, 'image') } };
}

function readService(service: JsonMap | null): Pick<StepSummary, 'service'> {
  return service === null ? {} : { service: { ready: service['ready'] === true } };
}

function readApproval(approval: JsonMap | null, settings: ClientSettings): Pick<StepSummary, 'approval'> {
  if (approval === null) return {};
  const input = listIn(approval, 'input').filter(isObject) as object[] as ApprovalSummary['input'];
  return {
    approval: {
      prompt: textIn(approval, 'prompt') ?? '',
      input,
      allowed: textsIn(approval, 'allowed'),
      since: timeIn(approval, 'since', settings),
      until: timeIn(approval, 'until', settings),
      answer: wordIn(approval, 'answer', ['approved', 'rejected']).answer ?? null,
      by: textIn(approval, 'by'),
      at: timeIn(approval, 'at', settings),
      comment: textIn(approval, 'comment'),
    },
  };
}

function readDotenv(file: JsonMap): DotenvUse {
  const option = file['option'] === true ? { option: true as const } : {};
  return { path: textIn(file, 'path') ?? '', names: textsIn(file, 'names'), ...option };
}

function readParam(param: JsonMap): Param {
  const masked = param['masked'] === true ? { masked: true as const } : {};
  return { name: textIn(param, 'name'), value: textIn(param, 'value') ?? '', ...masked };
}

function readOutputs(outputs: JsonMap): Outputs {
  return Object.fromEntries(
    Object.entries(outputs).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function textsIn(from: JsonMap, field: string): readonly string[] {
  return listIn(from, field).filter((text) => typeof text === 'string');
}

/** An optional field with one of these words; words of a later version are dropped. */
function wordIn<Field extends string, const Word extends string>(
  from: JsonMap,
  field: Field,
  words: readonly Word[],
): { readonly [name in Field]?: Word } {
  const found = words.find((word) => word === from[field]);
  return found === undefined ? {} : ({ [field]: found } as { readonly [name in Field]: Word });
}

function required(from: JsonMap, field: string, settings: ClientSettings): string {
  const text = textIn(from, field);
  if (text !== null) return text;
  throw notUnderstood(settings, `there is no "${field}" in it`);
}

/** Reads a time in ISO 8601. An invalid time is rejected here, since every table would fail on it. */
function timeIn(from: JsonMap, field: string, settings: ClientSettings): string | null {
  const text = textIn(from, field);
  if (text === null || !Number.isNaN(Date.parse(text))) return text;
  throw notUnderstood(settings, `its "${field}" is not a time`);
}

function statusIn<Status extends string>(from: JsonMap, known: readonly Status[], settings: ClientSettings): Status {
  const status = required(from, 'status', settings);
  const found = known.find((one) => one === status);
  if (found !== undefined) return found;
  throw notUnderstood(settings, `this version does not know the status ${JSON.stringify(status)}`);
}
