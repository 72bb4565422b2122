import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, test } from 'vitest';
import { withTimeLimit } from '#system/time-limit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');
const collecting = setInterval(collectGarbage, 20);
afterAll(() => clearInterval(collecting));

const aborted = (signal: AbortSignal) => once(signal, 'abort').then(() => 'aborted');

describe('work with a time limit', () => {
  test('is aborted at the limit, even if garbage is collected meanwhile', async () => {
    expect(await withTimeLimit(200, new AbortController().signal, aborted)).toBe('aborted');
  });

  test('is aborted by the signal before the limit', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    expect(await withTimeLimit(60_000, stop.signal, aborted)).toBe('aborted');
    expect(await withTimeLimit(60_000, stop.signal, async (limited) => limited.aborted)).toBe(true);
  });

  test('passes its result and its error on', async () => {
    const { signal } = new AbortController();
    expect(await withTimeLimit(60_000, signal, async () => 1)).toBe(1);
    await expect(withTimeLimit(60_000, signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
