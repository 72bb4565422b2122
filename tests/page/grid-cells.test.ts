import { expect, test } from 'vitest';
import { cellStatus, median } from '#page/data/workflows/workflow-filter.ts';

test('a letter of the grid is converted to the status of a step, or null', () => {
  expect([0, 1, 2, 3].map((step) => cellStatus('SFU-', step))).toEqual([
    'succeeded',
    'failed',
    'upstream_failed',
    null,
  ]);
  expect(cellStatus('S', 1)).toBeNull();
});

test('the median does not depend on the longest duration', () => {
  expect([median([3]), median([1, 100, 2]), median([4, 1, 2, 1000]), median([])]).toEqual([3, 2, 3, null]);
});
