import { expect, test } from 'vitest';
import type { Param } from '#core/run/run.ts';
import { openParams } from '#service/runs/given-params.ts';
import { workflow } from '../../support/workflow.ts';

const flow = workflow({
  params: [
    { name: 'A', value: '', open: true },
    { name: 'B', value: 'default' },
    { name: 'C', value: '', open: true },
  ],
});

test.each<[string, readonly Param[], readonly string[]]>([
  ['nothing', [], ['A', 'C']],
  ['a name', [{ name: 'C', value: 'x' }], ['A']],
  ['an empty value', [{ name: 'C', value: '' }], ['A']],
  [
    'places',
    [
      { name: null, value: 'x' },
      { name: null, value: 'y' },
    ],
    ['C'],
  ],
  [
    'a name and the place that it leaves',
    [
      { name: 'A', value: 'x' },
      { name: null, value: 'y' },
    ],
    ['C'],
  ],
  ['another name', [{ name: 'D', value: 'x' }], ['A', 'C']],
])('given %s', (_what, given, expected) => {
  expect(openParams(flow, given)).toEqual(expected);
});
