import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withPlace } from '../support/past-runs.ts';

type Planned = { readonly name: string; readonly skipped: string | null; readonly attempts: number };
type Plan = {
  readonly steps: readonly Planned[];
  readonly handlers: readonly Planned[];
  readonly skipped: string | null;
};

const yaml = `
params: {MODE: fast}
steps:
  - {name: never, command: "true", preconditions: [{condition: $MODE, expected: slow}]}
  - {name: behind, command: "true", depends: never}
  - {name: guarded, command: "true", continueOn: {skipped: true}, preconditions: [{condition: $MODE, expected: "re:^s"}]}
  - {name: goes on, command: "true", depends: guarded}
  - {name: met, command: "true", preconditions: [{condition: $MODE, expected: fast}]}
  - {name: asks, command: "true", preconditions: [{condition: "\`touch ran; echo no\`", expected: "yes"}]}
  - {name: runs, command: "true", preconditions: [{condition: touch ran; false}]}
  - {name: gives, command: echo one, output: GIVEN, retryPolicy: {limit: 2, intervalSec: 1}}
  - {name: takes, command: "true", depends: gives, preconditions: [{condition: $GIVEN, expected: two}]}
handlerOn:
  failure: {command: echo failed}
`;

describe('wf dry', () => {
  it('names the steps that are always skipped, without running a condition', () =>
    withPlace({ 'w.yaml': yaml }, async ({ cwd, json }) => {
      const { steps, handlers, skipped } = await json<Plan>('dry', 'w.yaml');
      expect(Object.fromEntries(steps.map((step) => [step.name, step.skipped]))).toEqual({
        never: '$MODE was "fast", expected "slow"',
        behind: '"never" is skipped',
        guarded: '$MODE was "fast", expected "re:^s"',
        'goes on': null,
        met: null,
        asks: null,
        runs: null,
        gives: null,
        takes: null,
      });
      expect(steps.find(({ name }) => name === 'gives')?.attempts).toBe(3);
      expect([handlers.map(({ name }) => name), skipped]).toEqual([['handlerOn.failure'], null]);
      expect(existsSync(join(cwd, 'ran'))).toBe(false);
    }));

  it('uses given parameters', () =>
    withPlace({ 'w.yaml': yaml }, async ({ wf }) => {
      const { stdout } = await wf('dry', 'w.yaml', '--', 'MODE=slow');
      expect(stdout).not.toMatch(/never .*skipped/);
      expect(stdout).toMatch(/met .*\(would be skipped: \$MODE was "slow", expected "fast"\)/);
      expect(stdout).toMatch(/gives .*\(up to 3 attempts, 1s between them\)/);
      expect(stdout).toMatch(/handlers\n {2}handlerOn.failure +echo failed\n/);
    }));

  it('reports if the workflow itself would not run', () =>
    withPlace(
      { 'w.yaml': 'preconditions: [{condition: a, expected: b}]\nsteps: [{name: x, command: "true"}]' },
      async ({ wf }) => {
        expect((await wf('dry', 'w.yaml')).stdout).toContain('nothing would run: a was "a", expected "b"\n');
      },
    ));

  const daily = `
timezone: Europe/Berlin
schedule: "0 2 * * *"
params: [{name: DAY, eval: $WF_SCHEDULED_DATE}]
steps:
  - {name: load, command: load $DAY $WF_SCHEDULED_FOR $WF_PREVIOUS_FOR}
  - {name: weekly, command: "true", preconditions: [{condition: $WF_SCHEDULED_DATE, expected: 2026-11-23}]}
  - {name: later, command: "true", preconditions: [{condition: $WF_PREVIOUS_FOR, expected: never}]}
`;

  it('shows the plan for a scheduled moment', () =>
    withPlace({ 'w.yaml': daily }, async ({ wf, json }) => {
      const plan = await json<Plan & { readonly scheduledFor: string }>('dry', 'w.yaml', '--for', '2026-11-26 02:00');
      expect(plan).toMatchObject({
        scheduledFor: '2026-11-26T01:00:00.000Z',
        params: [{ name: 'DAY', value: '2026-11-26' }],
        steps: [
          { values: { DAY: '2026-11-26', WF_SCHEDULED_FOR: '2026-11-26T02:00:00+01:00' } },
          { skipped: '$WF_SCHEDULED_DATE was "2026-11-26", expected "2026-11-23"' },
          { skipped: null },
        ],
      });
      expect((await wf('dry', 'w.yaml', '--for', '2026-11-23')).stdout).toContain('for: 2026-11-22T23:00:00.000Z\n');
      expect(await json<Plan>('dry', 'w.yaml')).not.toHaveProperty('scheduledFor');
    }));

  it('says how to write the moment', () =>
    withPlace({ 'w.yaml': daily }, async ({ wf }) => {
      const { code, stderr } = await wf('dry', 'w.yaml', '--for', 'yesterday');
      expect(code).toBe(2);
      expect(stderr).toContain('--for: "yesterday" is not a time');
      expect(stderr).toContain('"2026-11-26 02:00"');
    }));
});
