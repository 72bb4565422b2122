import { isNumberText } from '#core/step-numbers.ts';
import type { NotifyNumberKey, NumberText, RunNumberKey } from '#core/workflow.ts';
import type { RawAction, RawNotification, RawNumber, RawWorkflow } from '../raw.ts';
import { asList } from '../raw.ts';
import { type RawItems, rawFanOut } from './fan-out.ts';

/** The number of a key; undefined if it has none, or a variable gives it. */
export function fixedNumber(value: RawNumber | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The numbers of a list without those that a variable gives. */
export function fixedNumbers(value: RawNumber | readonly RawNumber[] | undefined): number[] {
  return asList(value).filter((one) => typeof one === 'number');
}

/** The numbers of a step that a variable gives, as a part of the step. */
export function numberTextsOf(raw: RawAction & RawItems): { readonly numbers?: readonly NumberText[] } {
  const { timeoutSec, continueOn, retryPolicy: retry, repeatPolicy: repeat, service, approval } = raw;
  const fanOut = rawFanOut(raw);
  const holders = timeoutSec ?? continueOn ?? retry ?? repeat ?? service ?? approval ?? fanOut;
  // Most steps have none of them.
  if (holders === undefined || holders === null) return {};
  const numbers = [
    ...texts('timeoutSec', timeoutSec),
    ...texts('continueOn.exitCode', typeof continueOn === 'object' ? continueOn.exitCode : undefined),
    ...(['limit', 'intervalSec', 'maxIntervalSec', 'backoff', 'jitter', 'exitCode'] as const).flatMap((key) =>
      texts(`retryPolicy.${key}`, retry?.[key]),
    ),
    ...(['limit', 'intervalSec', 'maxIntervalSec', 'backoff', 'exitCode'] as const).flatMap((key) =>
      texts(`repeatPolicy.${key}`, repeat?.[key]),
    ),
    ...texts('parallel.maxConcurrent', fanOut?.maxConcurrent),
    ...(['intervalSec', 'timeoutSec'] as const).flatMap((key) =>
      texts(`service.${key}`, typeof service === 'object' ? service[key] : undefined),
    ),
    ...texts('approval.timeoutSec', typeof approval === 'object' ? approval.timeoutSec : undefined),
  ];
  return numbers.length === 0 ? {} : { numbers };
}

type RawRunNumbers = { readonly [key in RunNumberKey]?: RawWorkflow[key] | undefined };

/** The numbers of a workflow that a variable gives, as a part of the workflow. */
export function runNumberTextsOf(raw: RawRunNumbers): { readonly numbers?: readonly NumberText<RunNumberKey>[] } {
  const keys = ['timeoutSec', 'delaySec', 'maxActiveSteps', 'maxOutputSize'] as const;
  const numbers = keys.flatMap((key) => texts(key, raw[key]));
  return numbers.length === 0 ? {} : { numbers };
}

type RawNotifyNumbers = Pick<RawNotification, 'lines' | 'timeoutSec'>;

/** The numbers of a notification that a variable gives, as a part of the notification. */
export function notifyNumberTextsOf(raw: RawNotifyNumbers): {
  readonly numbers?: readonly NumberText<NotifyNumberKey>[];
} {
  const numbers = (['lines', 'timeoutSec'] as const).flatMap((key) => texts(`notify.${key}`, raw[key]));
  return numbers.length === 0 ? {} : { numbers };
}

function texts<Key extends string>(
  key: Key,
  value: boolean | RawNumber | readonly RawNumber[] | undefined,
): NumberText<Key>[] {
  return asList(value).flatMap((text) => (isNumberText(text) ? [{ key, text }] : []));
}
