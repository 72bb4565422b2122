import { expect, test } from 'vitest';
import { isNearlyFull } from '#page/data/disk.ts';

const gib = 1024 ** 3;
const disk = (totalBytes: number, freeBytes: number) => ({ path: '/runs', totalBytes, freeBytes });

test('a disk is nearly full below 5 % of its size, a large one below 10 GiB', () => {
  expect(isNearlyFull(disk(20 * gib, gib - 1))).toBe(true);
  expect(isNearlyFull(disk(20 * gib, gib))).toBe(false);
  expect(isNearlyFull(disk(2000 * gib, 10 * gib))).toBe(false);
  expect(isNearlyFull(disk(2000 * gib, 10 * gib - 1))).toBe(true);
  expect(isNearlyFull(disk(gib, 0))).toBe(true);
});
