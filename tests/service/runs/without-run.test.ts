import { expect, test } from 'vitest';
import { runVariableNames } from '#core/run-variables.ts';
import { withoutRun } from '#service/runs/queued-run.ts';

test('a process that outlives its step gets no variable of its run', () => {
  const ofRun = Object.fromEntries(runVariableNames.map((name) => [name, 'x']));
  expect(withoutRun({ ...ofRun, WF_HOME: '/home/wf', A: '1' })).toEqual({ WF_HOME: '/home/wf', A: '1' });
});
