import { expect, test } from 'vitest';
import { boundedLabel } from '#daemon/metrics.ts';

test('values beyond the maximum share one label, and earlier ones keep theirs', () => {
  const label = boundedLabel(2);
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});
