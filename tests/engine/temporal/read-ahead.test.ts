import { expect, it } from 'vitest';
import { isReadAhead } from '#engine/temporal/workflow/read-ahead.ts';

it.each([
  ['the first task', null, [3, 900], false],
  ['the next task', [3, 900], [9, 1800], false],
  ['more of the same task', [9, 1800], [9, 1800], false],
  ['events without their task', [9, 1800], [11, 1800], true],
  ['a server that tells no sizes', [9, 0], [11, 0], false],
] as const)('events are read ahead of their task: %s', (_, before, [historyLength, historySize], expected) => {
  const earlier = before === null ? null : { historyLength: before[0], historySize: before[1] };
  expect(isReadAhead(earlier, { historyLength, historySize })).toBe(expected);
});
