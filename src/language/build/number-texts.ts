import { isNumberText } from '../../core/step-numbers.ts';
import type { NumberKey, NumberText } from '../../core/workflow.ts';
import type { RawAction, RawNumber } from '../raw.ts';
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
  const { timeoutSec, continueOn, retryPolicy: retry, repeatPolicy: repeat, service } = raw;
  const numbers = [
    ...texts('timeoutSec', timeoutSec),
    ...texts('continueOn.exitCode', typeof continueOn === 'object' ? continueOn.exitCode : undefined),
    ...(['limit', 'intervalSec', 'maxIntervalSec', 'backoff', 'jitter', 'exitCode'] as const).flatMap((key) =>
      texts(`retryPolicy.${key}`, retry?.[key]),
    ),
    ...(['limit', 'intervalSec', 'maxIntervalSec', 'backoff', 'exitCode'] as const).flatMap((key) =>
      texts(`repeatPolicy.${key}`, repeat?.[key]),
    ),
    ...texts('parallel.maxConcurrent', rawFanOut(raw)?.maxConcurrent),
    ...(['intervalSec', 'timeoutSec'] as const).flatMap((key) =>
      texts(`service.${key}`, typeof service === 'object' ? service[key] : undefined),
    ),
  ];
  return numbers.length === 0 ? {} : { numbers };
}

function texts(key: NumberKey, value: boolean | RawNumber | readonly RawNumber[] | undefined): NumberText[] {
  return asList(value).flatMap((text) => (isNumberText(text) ? [{ key, text }] : []));
}
