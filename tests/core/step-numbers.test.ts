import { describe, expect, it } from 'vitest';
import { numberValues, withNumbers } from '#core/step-numbers.ts';
import type { NumberText } from '#core/workflow.ts';
import { step } from '../support/workflow.ts';

/** The values of one number text with the variable `$V`. */
function evaluated(key: NumberText['key'], value: string | undefined): unknown {
  const read = numberValues([{ key, text: '$V' }], () => value);
  return 'values' in read ? read.values[0]?.value : read.problem;
}

describe('a number that a variable gives', () => {
  it('is accepted as in a file', () => {
    expect(evaluated('retryPolicy.limit', ' 3\n')).toBe(3);
    expect(evaluated('retryPolicy.jitter', '.5')).toBe(0.5);
    expect(evaluated('timeoutSec', '2m30s')).toBe(150);
    expect(evaluated('timeoutSec', '0.5')).toBe(0.5);
  });

  it('is reported with its key, variable and value if it is wrong', () => {
    expect(evaluated('retryPolicy.limit', 'many')).toBe(
      '"retryPolicy.limit: $V" must be a whole number from 0 to 2147483647, got "many"',
    );
    expect(evaluated('retryPolicy.limit', '1.5')).toMatch(/got "1.5"$/);
    expect(evaluated('retryPolicy.limit', '-1')).toMatch(/got "-1"$/);
    expect(evaluated('retryPolicy.limit', undefined)).toMatch(/got ""$/);
    expect(evaluated('retryPolicy.backoff', '1')).toBe(
      '"retryPolicy.backoff: $V" must be a number above 1 and at most 1000, got "1"',
    );
    expect(evaluated('parallel.maxConcurrent', '1001')).toMatch(/must be a whole number from 1 to 1000/);
    expect(evaluated('timeoutSec', 'soon')).toMatch(/must be seconds or a length such as 90s/);
    expect(evaluated('retryPolicy.exitCode', '256')).toMatch(/from 0 to 255/);
  });

  it('is put into the policies of its step, an exit code after those of the file', () => {
    const made = withNumbers(step('a', { retry: { limit: 0, intervalMs: 0, exitCodes: [75] } }), [
      { key: 'retryPolicy.limit', value: 2 },
      { key: 'retryPolicy.intervalSec', value: 1.5 },
      { key: 'retryPolicy.exitCode', value: 7 },
      { key: 'timeoutSec', value: 3 },
      { key: 'repeatPolicy.limit', value: 9 },
    ]);
    expect(made).toEqual(
      step('a', { retry: { limit: 2, intervalMs: 1500, exitCodes: [75, 7] }, timeoutMs: 3000, repeat: null }),
    );
  });
});
