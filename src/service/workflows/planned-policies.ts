import { itemKeys } from '#core/fan-out/items.ts';
import { numberValues, withNumbers } from '#core/step-numbers.ts';
import { namesIn, previewText } from '#core/words/interpolate.ts';
import type {
  Approval,
  BackgroundStep,
  FanOut,
  JsonObject,
  Lateness,
  NumberKey,
  NumberText,
  NumberValue,
  Precondition,
  Readiness,
  RepeatPolicy,
  RetryPolicy,
  RunNumberKey,
  Step,
  Tolerance,
  Waits,
} from '#core/workflow.ts';
import { formatInterval } from '#render/text.ts';

const MOST_ITEMS = 20;

/** The keys of numbers that no other line shows. */
const OWN_LINES: ReadonlySet<string> = new Set(['timeoutSec', 'approval.timeoutSec']);

/** Describes items, container, service, approval and policies of a step, each in one line. */
export function plannedPolicies(
  step: Step,
  { values, left, problems }: PlannedNumbers<NumberKey>,
  shared: JsonObject | undefined,
): string[] {
  const { retry, repeat, continueOn, executor, service, fanOut, approval, lateMs } = withNumbers(step, values);
  const parts = [
    fanOut === undefined ? '' : fanOutText(fanOut, left.find(({ key }) => key === 'parallel.maxConcurrent')?.text),
    executor.type === 'docker' ? containerText(executor.config, shared) : '',
    service === undefined ? '' : serviceText(service),
    approval === undefined ? '' : approvalText(approval),
    retryText(retry),
    repeat === null ? '' : repeatText(repeat),
    toleranceText(continueOn),
    lateMs === undefined ? '' : `late after ${formatInterval(lateMs)}`,
    ...values.flatMap(({ key, value }) => (OWN_LINES.has(key) ? [`${key}: ${value}`] : [])),
    ...left.flatMap(({ key, text }) => (key === 'parallel.maxConcurrent' ? [] : [`${key}: ${text}`])),
    ...problems,
  ];
  return parts.filter((text) => text !== '');
}

/** Returns when a run is late: `30m00s after its start, or at 06:30`. */
export function lateText({ afterMs, by, isQuiet }: Lateness): string {
  const times = [
    ...(afterMs === undefined ? [] : [`${formatInterval(afterMs)} after its start`]),
    ...(by === undefined ? [] : [`at ${by}`]),
  ];
  return `${times.join(', or ')}${isQuiet === true ? '; no notification is sent' : ''}`;
}

/** Items that are known only during a run are shown as written. */
function fanOutText({ items, from, isMatrix, maxConcurrent, failFast }: FanOut, limit: string | undefined): string {
  const shown = typeof items === 'string' ? [] : itemKeys(items, { isMatrix: isMatrix === true });
  const more = shown.length > MOST_ITEMS ? ', ...' : '';
  const what =
    typeof items === 'string'
      ? `runs for each ${from === 'glob' ? 'path that matches' : from === 'lines' ? 'line of' : 'item of'} ${items.replaceAll('\n', ' or ')}`
      : `runs for each of ${items.length} items: ${shown.slice(0, MOST_ITEMS).join(', ')}${more}`;
  return [what, `at most ${limit ?? maxConcurrent} at once`, ...(failFast ? ['until one fails'] : [])].join('; ');
}

function containerText({ image, containerName, shared: isShared }: JsonObject, shared: JsonObject | undefined): string {
  if (isShared === true) return `in the container of the run, ${shared?.image}`;
  return image === undefined ? `in the running container ${containerName}` : `in a container of ${image}`;
}

function serviceText({ readyWhen, timeoutMs }: BackgroundStep): string {
  if (readyWhen === null) return 'a service, ready when it has started';
  return `a service, ready within ${timeoutMs / 1000}s when ${readinessText(readyWhen)}`;
}

function readinessText(readyWhen: Readiness): string {
  switch (readyWhen.kind) {
    case 'command':
      return `\`${readyWhen.command}\` exits 0`;
    case 'port':
      return `port ${readyWhen.port} answers`;
    case 'http':
      return `${readyWhen.url} answers`;
    case 'line':
      return `it prints ${JSON.stringify(readyWhen.line)}`;
    case 'healthy':
      return 'it is healthy';
  }
}

function approvalText({ prompt, by, inputs, timeoutMs, onTimeout }: Approval): string {
  const parts = [
    `waits for approval${by.length === 0 ? '' : ` by ${by.join(' or ')}`}${prompt === '' ? '' : `: ${prompt}`}`,
    ...(inputs.length === 0 ? [] : [`asks for ${inputs.map(({ name }) => name).join(', ')}`]),
    ...(timeoutMs === 0 ? [] : [`${onTimeout === 'approve' ? 'approved' : 'rejected'} after ${timeoutMs / 1000}s`]),
  ];
  return parts.join('; ');
}

function retryText(policy: RetryPolicy): string {
  const { limit, exitCodes, jitter } = policy;
  if (limit === 0) return '';
  const waits = waitsText(policy);
  const parts = [
    `up to ${limit + 1} attempts`,
    ...(waits === '' ? [] : [`${waits} between them`]),
    ...(jitter === undefined ? [] : [`shortened by up to ${Math.round(jitter * 100)} %`]),
    ...(exitCodes === undefined ? [] : [`only after ${exitText(exitCodes)}`]),
  ];
  return parts.join(', ');
}

function repeatText(policy: RepeatPolicy): string {
  const { mode, condition, exitCodes, limit } = policy;
  const waits = waitsText(policy);
  const test = condition === undefined ? exitText(exitCodes ?? []) : conditionText(condition);
  const parts = [
    mode === undefined ? 'repeats' : `repeats ${mode} ${test}`,
    ...(limit === undefined ? [] : [`at most ${limit} times in all`]),
    ...(waits === '' ? [] : [`${waits} in between`]),
  ];
  return parts.join(', ');
}

function toleranceText({ failure, skipped, exitCodes, output, markSuccess }: Tolerance): string {
  const failures = failure
    ? ['a failure']
    : [
        ...(exitCodes === undefined ? [] : [exitText(exitCodes)]),
        ...(output === undefined
          ? []
          : [`a failure that prints ${output.map((text) => JSON.stringify(text)).join(' or ')}`]),
      ];
  const all = [...failures, ...(skipped ? ['a skip'] : [])];
  if (all.length === 0) return '';
  const mark = markSuccess === true && failures.length > 0 ? ', which counts as success' : '';
  return `continues after ${all.join(' or ')}${mark}`;
}

function conditionText({ condition, expected, negate }: Precondition): string {
  if (expected === null) return `\`${condition}\` ${negate === true ? 'fails' : 'exits 0'}`;
  return `${condition} is ${negate === true ? 'not ' : ''}${JSON.stringify(expected)}`;
}

function exitText(codes: readonly number[]): string {
  return `exit ${codes.join(' or ')}`;
}

/** `10s`, `1s growing by a factor of 2 up to 600s`; empty without a wait. */
function waitsText({ intervalMs, backoff, maxIntervalMs }: Waits): string {
  if (intervalMs === 0) return '';
  const growth = backoff === undefined ? '' : ` growing by a factor of ${backoff}`;
  const most = maxIntervalMs === undefined ? '' : ` up to ${maxIntervalMs / 1000}s`;
  return `${intervalMs / 1000}s${growth}${most}`;
}

/** Numbers that variables give, as far as they are known before a run. */
type PlannedNumbers<Key extends string> = {
  readonly values: readonly NumberValue<Key>[];
  /** Known only during a run. */
  readonly left: readonly NumberText<Key>[];
  /** The problems of known values. */
  readonly problems: readonly string[];
};

/** Evaluates numbers before a run. `scope` returns `${NAME}` for a value that is known only during a run. */
export function plannedNumbers<Key extends NumberKey | RunNumberKey>(
  numbers: readonly NumberText<Key>[],
  scope: (name: string) => string | undefined,
): PlannedNumbers<Key> {
  const isKnown = ({ text }: NumberText<Key>) =>
    [...namesIn(text)].every((name) => scope(name) !== undefined) && !/[$`]/.test(previewText(text, scope));
  const read = numbers.filter(isKnown).map((number) => numberValues([number], scope));
  return {
    values: read.flatMap((each) => ('values' in each ? each.values : [])),
    left: numbers.filter((number) => !isKnown(number)),
    problems: read.flatMap((each) => ('problem' in each ? [each.problem] : [])),
  };
}
