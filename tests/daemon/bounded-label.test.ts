import { expect, test } from 'vitest';
import { boundedLabel } from '../../src/daemon/metrics.ts';

test('values beyond the most are one, and those that were there before stay themselves', () => {
  const label = boundedLabel(2);
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});
