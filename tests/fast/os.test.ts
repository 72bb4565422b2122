import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { hostName, os } from '#fast/os.ts';

test('the name of this machine is the one that node:os reports', () => {
  expect([hostName(), os().hostname()]).toEqual([hostname(), hostname()]);
});
