import { expect, it } from 'vitest';
import { lateTime } from '#core/run/policies.ts';
import { DrivenRun } from '../../support/driven-run.ts';
import { step } from '../../support/workflow.ts';

const late = (name: string | null, at: number) => ({ type: 'late-due', at, step: name }) as const;

it('a run and a step are late once, and continue', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })] });
  run.begin('a');
  expect(run.send(late(null, 2000))).toEqual([{ type: 'run.late', at: 2000 }]);
  expect(run.send(late('a', 2100))).toEqual([{ type: 'step.late', at: 2100, step: 'a' }]);
  expect([...run.send(late(null, 2200)), ...run.send(late('a', 2200))]).toEqual([]);
  run.succeed('a', 'b');
  expect([run.ending, run.state.lateAt, run.step('a').lateAt]).toEqual([['succeeded', null], 2000, 2100]);
});

it('what has not started, or has ended, is not late', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })] });
  expect(run.send(late('b', 2000))).toEqual([]);
  run.succeed('a');
  expect(run.send(late('a', 2000))).toEqual([]);
  run.succeed('b');
  expect(run.send(late(null, 2000))).toEqual([]);
  expect(run.state).not.toHaveProperty('lateAt');
});

it('a run that waits to be started can be late', () => {
  const run = new DrivenRun({ steps: [step('a')] });
  expect(run.send(late(null, 2000))).toEqual([{ type: 'run.late', at: 2000 }]);
  expect(run.state.status).toBe('queued');
  run.start();
  expect(run.started).toEqual(['a']);
});

it('before the start of a run its start counts, afterwards its duration, and always its time of day', () => {
  const run = new DrivenRun({ late: { afterMs: 500 }, steps: [step('a')] });
  expect(lateTime(run.state)).toBeNull();
  expect(lateTime({ ...run.state, startBy: 300, lateBy: 400 })).toBe(300);
  expect(lateTime({ ...run.state, startBy: 300, lateBy: 200 })).toBe(200);
  run.start();
  expect(lateTime({ ...run.state, startBy: 300 })).toBe(1500);
  expect(lateTime({ ...run.state, lateBy: 1400 })).toBe(1400);
  expect(lateTime({ ...run.state, lateBy: 1400, lateAt: 1400 })).toBeNull();
});
