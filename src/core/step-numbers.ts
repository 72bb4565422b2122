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
/** The range of a key, and its location in a step, workflow or notification. */
type Rule<Target> = Limits & { readonly put: (target: Target, value: number) => Target };
type Put = Rule<Step>['put'];
/** The numbers of a workflow that a variable may give. */
export type RunNumbers = Partial<Pick<Workflow, 'timeoutMs' | 'delayMs' | 'maxActiveSteps' | 'maxOutputBytes'>>;
type NotifyNumbers = Pick<Notification, 'lines' | 'timeoutMs'>;

const MOST_COUNT = 2_147_483_647;
const MOST_SECONDS = 3_153_600_000;
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

function seconds<Target>(put: Rule<Target>['put'], limits: Partial<Limits> = {}): Rule<Target> {
  return {
    takes: 'seconds',
    least: 0,
    most: MOST_SECONDS,
    ...limits,
    put: (target, value) => put(target, Math.round(value * 1000)),
  };
}
const ofRetry = (change: (value: number) => Partial<Step['retry']>): Put => {
  return (step, value) => ({ ...step, retry: { ...step.retry, ...change(value) } });
};
const ofRepeat = (change: (value: number) => Partial<NonNullable<Step['repeat']>>): Put => {
  return (step, value) => (step.repeat === null ? step : { ...step, repeat: { ...step.repeat, ...change(value) } });
};
const ofBackgroundStep = (change: (value: number) => Partial<NonNullable<Step['service']>>): Put => {
  return (step, value) =>
    step.service === undefined ? step : { ...step, service: { ...step.service, ...change(value) } };
};
const exitCode = (put: Put): Rule<Step> => ({ takes: 'count', least: 0, most: 255, put });
const factor = (put: Put): Rule<Step> => ({ takes: 'factor', least: 1, isAbove: true, most: 1000, put });

/** The keys of a step whose number may be a variable. An exit code is one more in its list. */
const rules: { readonly [key in NumberKey]: Rule<Step> } = {
  timeoutSec: seconds((step, timeoutMs) => ({ ...step, timeoutMs })),
  'continueOn.exitCode': exitCode((step, code) => {
    const { continueOn } = step;
    return { ...step, continueOn: { ...continueOn, exitCodes: [...(continueOn.exitCodes ?? []), code] } };
  }),
  'retryPolicy.limit': { takes: 'count', least: 0, most: MOST_COUNT, put: ofRetry((limit) => ({ limit })) },
  'retryPolicy.intervalSec': seconds(ofRetry((intervalMs) => ({ intervalMs }))),
  'retryPolicy.maxIntervalSec': seconds(ofRetry((maxIntervalMs) => ({ maxIntervalMs }))),
  'retryPolicy.backoff': factor(ofRetry((backoff) => ({ backoff }))),
  'retryPolicy.jitter': { takes: 'number', least: 0, most: 1, put: ofRetry((jitter) => ({ jitter })) },
  'retryPolicy.exitCode': exitCode((step, code) => {
    return { ...step, retry: { ...step.retry, exitCodes: [...(step.retry.exitCodes ?? []), code] } };
  }),
  'repeatPolicy.limit': { takes: 'count', least: 1, most: MOST_COUNT, put: ofRepeat((limit) => ({ limit })) },
  'repeatPolicy.intervalSec': seconds(ofRepeat((intervalMs) => ({ intervalMs }))),
  'repeatPolicy.maxIntervalSec': seconds(ofRepeat((maxIntervalMs) => ({ maxIntervalMs }))),
  'repeatPolicy.backoff': factor(ofRepeat((backoff) => ({ backoff }))),
  'repeatPolicy.exitCode': exitCode((step, code) => {
    const { repeat } = step;
    return repeat === null ? step : { ...step, repeat: { ...repeat, exitCodes: [...(repeat.exitCodes ?? []), code] } };
  }),
  'parallel.maxConcurrent': {
    takes: 'count',
    least: 1,
    most: 1000,
    put: (step, maxConcurrent) =>
      step.fanOut === undefined ? step : { ...step, fanOut: { ...step.fanOut, maxConcurrent } },
  },
  'service.intervalSec': seconds(
    ofBackgroundStep((intervalMs) => ({ intervalMs })),
    { isAbove: true, most: 3600 },
  ),
  'service.timeoutSec': seconds(
    ofBackgroundStep((timeoutMs) => ({ timeoutMs })),
    { isAbove: true, most: 86_400 },
  ),
  'approval.timeoutSec': seconds((step, timeoutMs) =>
    step.approval === undefined ? step : { ...step, approval: { ...step.approval, timeoutMs } },
  ),
};

/** The keys of a workflow whose number may be a variable. */
const runRules: { readonly [key in RunNumberKey]: Rule<RunNumbers> } = {
  timeoutSec: seconds((run, timeoutMs) => ({ ...run, timeoutMs })),
  delaySec: seconds((run, delayMs) => ({ ...run, delayMs })),
  maxActiveSteps: {
    takes: 'count',
    least: 0,
    most: MOST_COUNT,
    put: (run, maxActiveSteps) => ({ ...run, maxActiveSteps }),
  },
  maxOutputSize: {
    takes: 'count',
    least: 1,
    most: MOST_OUTPUT_BYTES,
    put: (run, maxOutputBytes) => ({ ...run, maxOutputBytes }),
  },
};

/** The keys of a notification whose number may be a variable. */
const notifyRules: { readonly [key in NotifyNumberKey]: Rule<NotifyNumbers> } = {
  'notify.lines': { takes: 'count', least: 0, most: 100, put: (notify, lines) => ({ ...notify, lines }) },
  'notify.timeoutSec': seconds((notify, timeoutMs) => ({ ...notify, timeoutMs }), { isAbove: true, most: 30 }),
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
  return values.reduce((made, { key, value }) => rules[key].put(made, value), step);
}

/** The numbers of a workflow with those that variables gave. */
export function withRunNumbers(run: RunNumbers, values: readonly NumberValue<RunNumberKey>[]): RunNumbers {
  return values.reduce((made, { key, value }) => runRules[key].put(made, value), run);
}

/** The numbers of a notification with those that variables gave. */
export function withNotifyNumbers(
  notify: NotifyNumbers,
  values: readonly NumberValue<NotifyNumberKey>[],
): NotifyNumbers {
  return values.reduce((made, { key, value }) => notifyRules[key].put(made, value), notify);
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

function faultText({ takes, least, most, isAbove }: Limits): string {
  const kinds = {
    count: 'a whole number',
    number: 'a number',
    factor: 'a number',
    seconds: 'seconds or a length such as 90s',
  };
  return `must be ${kinds[takes]} ${isAbove === true ? 'above' : 'from'} ${least} ${isAbove === true ? 'and at most' : 'to'} ${most}`;
}
