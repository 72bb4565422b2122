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
});
