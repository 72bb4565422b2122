import { parseSpan } from './span.ts';
import { expandText } from './words/interpolate.ts';
import type { NumberKey, NumberText, NumberValue, Step } from './workflow.ts';

/** What a key takes, and where it is in a step. */
type Rule = {
  readonly takes: 'count' | 'number' | 'seconds' | 'factor';
  readonly least: number;
  /** The value must be more than `least`. */
  readonly isAbove?: true;
  readonly most: number;
  readonly put: (step: Step, value: number) => Step;
};

const MOST_COUNT = 2_147_483_647;
const MOST_SECONDS = 3_153_600_000;

const seconds = (put: Rule['put'], limits: Partial<Rule> = {}): Rule => {
  return {
    takes: 'seconds',
    least: 0,
    most: MOST_SECONDS,
    ...limits,
    put: (step, value) => put(step, Math.round(value * 1000)),
  };
};
const ofRetry = (change: (value: number) => Partial<Step['retry']>): Rule['put'] => {
  return (step, value) => ({ ...step, retry: { ...step.retry, ...change(value) } });
};
const ofRepeat = (change: (value: number) => Partial<NonNullable<Step['repeat']>>): Rule['put'] => {
  return (step, value) => (step.repeat === null ? step : { ...step, repeat: { ...step.repeat, ...change(value) } });
};
const ofService = (change: (value: number) => Partial<NonNullable<Step['service']>>): Rule['put'] => {
  return (step, value) =>
    step.service === undefined ? step : { ...step, service: { ...step.service, ...change(value) } };
};
const exitCode = (put: Rule['put']): Rule => ({ takes: 'count', least: 0, most: 255, put });
const factor = (put: Rule['put']): Rule => ({ takes: 'factor', least: 1, isAbove: true, most: 1000, put });

/** The keys of a step whose number may be a variable. An exit code is one more in its list. */
const rules: { readonly [key in NumberKey]: Rule } = {
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
    ofService((intervalMs) => ({ intervalMs })),
    { isAbove: true, most: 3600 },
  ),
  'service.timeoutSec': seconds(
    ofService((timeoutMs) => ({ timeoutMs })),
    { isAbove: true, most: 86_400 },
  ),
};

/** A number text is one variable: `$NAME`, `$1`, `${NAME.key}`. */
export function isNumberText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('$');
}

/** The values of the number texts of a step, or what is wrong with the first that has none. */
export function numberValues(
  texts: readonly NumberText[],
  scope: (name: string) => string | undefined,
): { readonly values: readonly NumberValue[] } | { readonly problem: string } {
  const values: NumberValue[] = [];
  for (const { key, text } of texts) {
    const given = expandText(text, scope).trim();
    const value = parsed(given, rules[key]);
    if (value === null) return { problem: `"${key}: ${text}" ${faultText(rules[key])}, got ${JSON.stringify(given)}` };
    values.push({ key, value });
  }
  return { values };
}

/** A step with the values of its number texts. */
export function withNumbers(step: Step, values: readonly NumberValue[]): Step {
  return values.reduce((made, { key, value }) => rules[key].put(made, value), step);
}

function parsed(text: string, { takes, least, most, isAbove }: Rule): number | null {
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

function faultText({ takes, least, most, isAbove }: Rule): string {
  const kinds = {
    count: 'a whole number',
    number: 'a number',
    factor: 'a number',
    seconds: 'seconds or a length such as 90s',
  };
  return `must be ${kinds[takes]} ${isAbove === true ? 'above' : 'from'} ${least} ${isAbove === true ? 'and at most' : 'to'} ${most}`;
}
