import { expect, test } from 'vitest';
import type { Param } from '#core/run/run.ts';
import { runRequest } from '#service/runs/start-run.ts';
import { workflow } from '../../support/workflow.ts';

const request = {
  workflow: workflow({ params: [{ name: 'A', value: '' }] }),
  sources: [],
  warnings: [],
  runId: 'r1',
  trigger: 'api',
} as const;

test.each<[Param, string]>([
  [{ name: 'A', value: 'x\0y' }, 'the value of parameter "A" contains the character U+0000'],
  [{ name: null, value: '\0' }, 'the value of parameter 1 contains the character U+0000'],
  [{ name: 'B', value: '1' }, 'unknown parameter "B": it takes A'],
  [{ name: 'A', value: '***', masked: true }, 'the value of parameter "A" was not kept: it is or holds a secret'],
  [{ name: null, value: '***', masked: true }, 'the value of parameter 1 was not kept: it is or holds a secret'],
])('a parameter that no step can use is rejected before a run is created: %j', (param, message) => {
  expect(() => runRequest({ ...request, params: [param] })).toThrow(message);
});

test.each([
  ['schedule', { startBy: 60_000 }],
  ['cli', undefined],
  ['retry', undefined],
] as const)('a run of the trigger %s can be late because of its moment: %j', (trigger, latest) => {
  const late = workflow({ late: { afterMs: 60_000 } });
  const made = runRequest({ ...request, workflow: late, trigger, params: [], moment: { scheduledFor: 0 } });
  expect(made.latest).toEqual(latest);
});
