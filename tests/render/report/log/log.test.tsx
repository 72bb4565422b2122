import { describe, expect, it } from 'vitest';
import { cutLog, shareLogBudget } from '#render/report/report-log.ts';
import type { LogExcerpt } from '#store/log-ends.ts';

const none = new Uint8Array(0);

function shown(log: Partial<LogExcerpt> & { head: Uint8Array }): readonly (string | null)[] {
  const { head, missing, tail } = cutLog({ size: log.head.length, tail: none, ...log });
  return [textOf(head), missing, textOf(tail)];
}

function textOf(spans: readonly { readonly text: string }[]): string {
  return spans.map(({ text }) => text).join('');
}

describe('a log', () => {
  it('that is small is shown whole, including its last line', () => {
    expect(shown({ head: Buffer.from('a\rb\r\nlast') })).toEqual(['b\nlast\n', null, '']);
  });

  it('that is large is cut at line ends, with the number of missing bytes', () => {
    const parts = shown({ size: 2000, head: Buffer.from('one\ntwo\nthr'), tail: Buffer.from('ne\nlast\n') });

    expect(parts).toEqual(['one\ntwo\n', '1.9 KiB', 'last\n']);
  });

  it('of one long line is cut between characters', () => {
    const [head, tail] = [Buffer.from('aé').subarray(0, 2), Buffer.from('éz').subarray(1)];

    expect(shown({ size: 100, head, tail })).toEqual(['a\n', '98 bytes', 'z\n']);
  });

  it('for which there is no room is reported with its size', () => {
    expect(shown({ size: 100, head: none })).toEqual(['', '100 bytes', '']);
  });

  it('whose colours would make it too large is shown without them', () => {
    const text = '\u001b[1;3;4;31mx\u001b[32my\n'.repeat(2000);

    const { head } = cutLog({ size: text.length, head: Buffer.from(text), tail: none });
    expect(head).toEqual([{ text: 'xy\n'.repeat(2000), classes: [], color: null, background: null }]);
  });
});

describe('the times of a log', () => {
  const times = [
    [4, 1000],
    [9, 2000],
    [100, 3000],
  ] as const;
  const marked = (log: Partial<LogExcerpt> & { head: Uint8Array }) => {
    const { head, tail } = cutLog({ size: log.head.length, tail: none, ...log }, times);
    return [head, tail].map((part) => part.map(({ at, text }) => [at, text]));
  };

  it('are marks before the first of the lines that it had when it had grown', () => {
    expect(marked({ head: Buffer.from('one\ntwo\nx\nlast') })).toEqual([
      [
        [1000, 'one\n'],
        [2000, 'two\n'],
        [3000, 'x\nlast\n'],
      ],
      [],
    ]);
  });

  it('of its end follow from the size of the log, and of what came later are unknown', () => {
    expect(marked({ size: 104, head: Buffer.from('one\nt'), tail: Buffer.from('ne\nend\nnew\n') })).toEqual([
      [[1000, 'one\n']],
      [
        [3000, 'end\n'],
        [undefined, 'new\n'],
      ],
    ]);
  });

  it('leave a colour and a line of more than 64 KiB whole', () => {
    const long = `\u001b[31m${'x'.repeat(70_000)}\n`;
    const { head } = cutLog({ size: 70_010, head: Buffer.from(`${long}red\n`), tail: none }, [
      [70_006, 1],
      [70_010, 2],
    ]);
    expect(head.map(({ at, text, classes }) => [at, text.length, classes])).toEqual([
      [1, 65_531, ['fg1']],
      [undefined, 1, []],
      [undefined, 4469, ['fg1']],
      [undefined, 1, []],
      [2, 3, ['fg1']],
      [undefined, 1, []],
    ]);
  });
});

describe('the size limit for logs', () => {
  const mebi = 1024 * 1024;

  it('includes small logs whole and 256 KiB of a large one', () => {
    expect(shareLogBudget([log(10), log(0), log(5 * 1024 * mebi)])).toEqual([10, 0, 256 * 1024]);
  });

  it('is divided evenly if all logs together are too large, and small ones stay whole', () => {
    const shares = shareLogBudget([...Array.from({ length: 999 }, () => log(mebi)), log(100)]);

    expect(new Set(shares.slice(0, 999)).size).toBe(1);
    expect(shares[999]).toBe(100);
    const sum = shares.reduce((total, share) => total + share, 0);
    expect(sum).toBeLessThanOrEqual(12 * mebi);
    expect(sum).toBeGreaterThan(11.9 * mebi);
  });

  it('is given to urgent logs first', () => {
    const others = Array.from({ length: 999 }, () => log(mebi));

    expect(shareLogBudget([...others, log(mebi, true)]).at(-1)).toBe(256 * 1024);
  });

  function log(bytes: number, isUrgent = false) {
    return { bytes, isUrgent };
  }
});
