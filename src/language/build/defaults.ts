import type { RawDefaults, RawStep } from '../raw.ts';
import { asList } from '../raw.ts';
import { assignments } from './assignments.ts';

/** A step with the `defaults` of its workflow: keys that it does not have; `env` and `preconditions` before its own. */
export function withDefaults(raw: RawStep, defaults: RawDefaults | undefined): RawStep {
  if (defaults === undefined) return raw;
  const { env, preconditions, ...rest } = defaults;
  const entries = [...assignments(env), ...assignments(raw.env)];
  return {
    ...rest,
    ...raw,
    ...(entries.length === 0 ? {} : { env: entries.map(({ name, value }) => ({ [name]: value })) }),
    preconditions: [...asList(preconditions), ...asList(raw.preconditions)],
  };
}
