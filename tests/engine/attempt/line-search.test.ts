import { describe, expect, it } from 'vitest';
import { lineTest, searchLines } from '#engine/attempt/line-search.ts';
import type { LogFile } from '#store/logs.ts';

const chunkBytes = 64 * 1024;

/** A log in chunks, as a file is read. */
function logOf(text: string): LogFile {
  const bytes = Buffer.from(text);
  return {
    path: null,
    size: async () => bytes.length,
    read: async function* (from) {
      for (let at = from; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
  };
}

const search = (text: string, wanted: string, from = 0) =>
  searchLines(logOf(text), { from, test: (line) => line === wanted });

describe('the search for a line of output', () => {
  it('finds a line across two chunks', async () => {
    const before = `${'x'.repeat(chunkBytes - 4)}\n`;
    expect(await search(`${before}grüße\nmore`, 'grüße')).toBeNull();
    expect(await search(`${before}grüße\nmore`, 'other')).toBe(Buffer.byteLength(`${before}grüße\n`));
  });

  it('includes the last line before its end, and searches it again later', async () => {
    expect(await search('one\ntw', 'tw')).toBeNull();
    expect(await search('one\ntw', 'two')).toBe(4);
    expect(await search('one\ntwo\n', 'two', 4)).toBeNull();
  });

  it('does not take the end of the output for an empty line', async () => {
    const test = lineTest('re:^$');
    expect(await searchLines(logOf('one\n'), { from: 0, test })).toBe(4);
    expect(await searchLines(logOf(''), { from: 0, test })).toBe(0);
    expect(await searchLines(logOf('one\n\n'), { from: 0, test })).toBeNull();
  });

  it('searches a line without an end in pieces, each of them once', async () => {
    const lengths: number[] = [];
    const test = (line: string) => lengths.push(line.length) === 0;
    const text = 'x'.repeat(8 * 1024 * 1024);
    const next = await searchLines(logOf(text), { from: 0, test });
    expect(lengths.reduce((sum, length) => sum + length)).toBe(text.length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1024 * 1024 + chunkBytes);
    expect(next).toBeGreaterThan(text.length - 1024 * 1024 - chunkBytes);
  });

  it('ends after the signal, and the next search continues there', async () => {
    const lines = 'line\n'.repeat(100_000);
    const test = (line: string) => line === 'last';
    const next = await searchLines(logOf(`${lines}last\n`), { from: 0, test, signal: AbortSignal.abort() });
    expect(next).toBe(Math.floor(chunkBytes / 5) * 5);
    expect(await searchLines(logOf(`${lines}last\n`), { from: next ?? 0, test })).toBeNull();
  });
});
