import { parseSpan } from './time-text.ts';
import { expandText } from './words/interpolate.ts';
import type {
  Notification,
  NotifyNumberKey,
  NumberKey,
  NumberText,
  NumberValue,
  RunNumberKey,
  Step,
  Workflow,
} from './workflow.ts';

/** The range of a key. */
type Limits = {
  readonly takes: 'count' | 'number' | 'seconds' | 'factor';
  readonly least: number;
  /** The value must be more than `least`. */
  readonly isAbove?: true;
  readonly most: number;
};
/** The range of a key, and its location in a step, workflow or notification; seconds are put as milliseconds. */
type Rule<Target> = Limits & { readonly put: (target: Target, value: number) => Target };
/** The numbers of a workflow that a variable may give. */
export type RunNumbers = Partial<Pick<Workflow, 'timeoutMs' | 'delayMs' | 'maxActiveSteps' | 'maxOutputBytes'>>;
type NotifyNumbers = Pick<Notification, 'lines' | 'timeoutMs'>;

const count = (least: number, most = 2_147_483_647) => ({ takes: 'count', least, most }) as const;
const seconds = { takes: 'seconds', least: 0, most: 3_153_600_000 } as const;
const secondsUpTo = (most: number) => ({ takes: 'seconds', least: 0, isAbove: true, most }) as const;
const exitCode = count(0, 255);
const factor = { takes: 'factor', least: 1, isAbove: true, most: 1000 } as const;

/** Changes a part of a step, if the step has it. */
function part<Name extends 'continueOn' | 'retry' | 'repeat' | 'fanOut' | 'service' | 'approval'>(
  name: Name,
  change: (value: number, present: NonNullable<Step[Name]>) => Partial<NonNullable<Step[Name]>>,
): Rule<Step>['put'] {
  return (step, value) => {
    const present = step[name];
    return present ? { ...step, [name]: { ...present, ...change(value, present) } } : step;
  };
}

const withCode = (code: number, { exitCodes = [] }: { readonly exitCodes?: readonly number[] }) => {
  return { exitCodes: [...exitCodes, code] };
};

/** The keys of a step whose number may be a variable. An exit code is one more in its list. */
const rules: { readonly [key in NumberKey]: Rule<Step> } = {
  timeoutSec: { ...seconds, put: (step, timeoutMs) => ({ ...step, timeoutMs }) },
  'continueOn.exitCode': { ...exitCode, put: part('continueOn', withCode) },
  'retryPolicy.limit': { ...count(0), put: part('retry', (limit) => ({ limit })) },
  'retryPolicy.intervalSec': { ...seconds, put: part('retry', (intervalMs) => ({ intervalMs })) },
  'retryPolicy.maxIntervalSec': { ...seconds, put: part('retry', (maxIntervalMs) => ({ maxIntervalMs })) },
  'retryPolicy.backoff': { ...factor, put: part('retry', (backoff) => ({ backoff })) },
  'retryPolicy.jitter': { takes: 'number', least: 0, most: 1, put: part('retry', (jitter) => ({ jitter })) },
  'retryPolicy.exitCode': { ...exitCode, put: part('retry', withCode) },
  'repeatPolicy.limit': { ...count(1), put: part('repeat', (limit) => ({ limit })) },
  'repeatPolicy.intervalSec': { ...seconds, put: part('repeat', (intervalMs) => ({ intervalMs })) },
  'repeatPolicy.maxIntervalSec': { ...seconds, put: part('repeat', (maxIntervalMs) => ({ maxIntervalMs })) },
  'repeatPolicy.backoff': { ...factor, put: part('repeat', (backoff) => ({ backoff })) },
  'repeatPolicy.exitCode': { ...exitCode, put: part('repeat', withCode) },
  'parallel.maxConcurrent': { ...count(1, 1000), put: part('fanOut', (maxConcurrent) => ({ maxConcurrent })) },
  'service.intervalSec': { ...secondsUpTo(3600), put: part('service', (intervalMs) => ({ intervalMs })) },
  'service.timeoutSec': { ...secondsUpTo(86_400), put: part('service', (timeoutMs) => ({ timeoutMs })) },
  'approval.timeoutSec': { ...seconds, put: part('approval', (timeoutMs) => ({ timeoutMs })) },
};

/** The keys of a workflow whose number may be a variable. */
const runRules: { readonly [key in RunNumberKey]: Rule<RunNumbers> } = {
  timeoutSec: { ...seconds, put: (run, timeoutMs) => ({ ...run, timeoutMs }) },
  delaySec: { ...seconds, put: (run, delayMs) => ({ ...run, delayMs }) },
  maxActiveSteps: { ...count(0), put: (run, maxActiveSteps) => ({ ...run, maxActiveSteps }) },
  maxOutputSize: { ...count(1, 64 * 1024 * 1024), put: (run, maxOutputBytes) => ({ ...run, maxOutputBytes }) },
};

/** The keys of a notification whose number may be a variable. */
const notifyRules: { readonly [key in NotifyNumberKey]: Rule<NotifyNumbers> } = {
  'notify.lines': { ...count(0, 100), put: (notify, lines) => ({ ...notify, lines }) },
  'notify.timeoutSec': { ...secondsUpTo(30), put: (notify, timeoutMs) => ({ ...notify, timeoutMs }) },
};

type AnyKey = NumberKey | RunNumberKey | NotifyNumberKey;
/** The time limits of a step and of a run have the same range. */
const limits: { readonly [key in AnyKey]: Limits } = { ...runRules, ...notifyRules, ...rules };

/** A number text is one variable: `$NAME`, `$1`, `${NAME.key}`. */
export function isNumberText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('$');
}

/** The values of number texts, or the problem of the first invalid one. */
export function numberValues<Key extends AnyKey>(
  texts: readonly NumberText<Key>[],
  scope: (name: string) => string | undefined,
): { readonly values: readonly NumberValue<Key>[] } | { readonly problem: string } {
  const values: NumberValue<Key>[] = [];
  for (const { key, text } of texts) {
    const given = expandText(text, scope).trim();
    const value = parsed(given, limits[key]);
    if (value === null) return { problem: `"${key}: ${text}" ${faultText(limits[key])}, got ${JSON.stringify(given)}` };
    values.push({ key, value });
  }
  return { values };
}

/** A step with the values of its number texts. */
export function withNumbers(step: Step, values: readonly NumberValue[]): Step {
  return applied(rules, step, values);
}

/** The numbers of a workflow with those that variables gave. */
export function withRunNumbers(run: RunNumbers, values: readonly NumberValue<RunNumberKey>[]): RunNumbers {
  return applied(runRules, run, values);
}

/** The numbers of a notification with those that variables gave. */
export function withNotifyNumbers(
  notify: NotifyNumbers,
  values: readonly NumberValue<NotifyNumberKey>[],
): NotifyNumbers {
  return applied(notifyRules, notify, values);
}

function applied<Target, Key extends string>(
  table: { readonly [key in Key]: Rule<Target> },
  target: Target,
  values: readonly NumberValue<Key>[],
): Target {
  return values.reduce((made, { key, value }) => {
    const { takes, put } = table[key];
    return put(made, takes === 'seconds' ? Math.round(value * 1000) : value);
  }, target);
}

function parsed(text: string, { takes, least, most, isAbove }: Limits): number | null {
  const value = takes === 'seconds' ? spanSeconds(text) : plainNumber(text);
  if (value === null || value > most || value < least || (isAbove === true && value === least)) return null;
  return takes === 'count' && !Number.isInteger(value) ? null : value;
}

function spanSeconds(text: string): number | null {
  const spanMs = parseSpan(text);
  return spanMs === null ? null : spanMs / 1000;
}

function plainNumber(text: string): number | null {
  return /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : null;
}

const kinds = {
  count: 'a whole number',
  number: 'a number',
  factor: 'a number',
  seconds: 'seconds or a length such as 90s',
};

function faultText({ takes, least, most, isAbove }: Limits): string {
  const range = isAbove === true ? `above ${least} and at most ${most}` : `from ${least} to ${most}`;
  return `must be ${kinds[takes]} ${range}`;
}
