import { expect, test } from 'vitest';
import { createLogLines, type LogLinesOptions } from '#render/log-lines.ts';
import type { OutputChunk } from '#render/reporters/reporter.ts';
import { LONGEST_LINE } from '#render/text/lines.ts';

type Printed = readonly [step: string, attempt: number, stream: OutputChunk['stream'], text: string];

/** The text written for these chunks, including the buffered text of each step. */
function written(chunks: readonly Printed[], options: Partial<LogLinesOptions> = {}): string {
  const texts: string[] = [];
  const lines = createLogLines({
    form: 'text',
    prefix: (step) => `[${step}] `,
    tail: null,
    marksAttempts: true,
    write: (text) => void texts.push(String(text)),
    ...options,
  });
  for (const [step, attempt, stream, text] of chunks) lines.push({ step, attempt, stream, bytes: Buffer.from(text) });
  for (const step of new Set(chunks.map(([name]) => name))) lines.end(step);
  lines.release();
  return texts.join('');
}

const long = 'x'.repeat(LONGEST_LINE * 2 + 10);

test('a long line is written whole', () => {
  expect(written([['a', 1, 'stdout', `${long}\nnext\n`]])).toBe(`[a] ${long}\n[a] next\n`);
  expect(written([['a', 1, 'stdout', `one\n${long}`]], { form: 'raw', tail: 1 })).toBe(`${long}\n`);
  expect(written([['a', 1, 'stdout', `one\n${long}\ntwo\n`]], { tail: 2 })).toBe(`[a] ${long}\n[a] two\n`);
});

test('a long line that another stream interrupts continues in a line of its own', () => {
  const text = written([
    ['a', 1, 'stdout', long.slice(0, LONGEST_LINE + 5)],
    ['b', 1, 'stdout', 'between\n'],
    ['a', 1, 'stdout', 'rest\n'],
  ]);
  expect(text).toBe(`[a] ${long.slice(0, LONGEST_LINE)}\n[b] between\n[a] xxxxxrest\n`);
});

test('in JSON each piece of a long line but the last is marked as continued', () => {
  const objects = written([['a', 1, 'stdout', `${long}\nnext\n`]], { form: 'json' })
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const piece = { step: 'a', attempt: 1, stream: 'stdout' };
  expect(objects).toEqual([
    { ...piece, text: 'x'.repeat(LONGEST_LINE), continues: true },
    { ...piece, text: 'x'.repeat(LONGEST_LINE), continues: true },
    { ...piece, text: 'x'.repeat(10) },
    { ...piece, text: 'next' },
  ]);
});

test('a separator precedes the output of each attempt but the first', () => {
  const attempts: Printed[] = [
    ['a', 1, 'stdout', 'one\n'],
    ['b', 1, 'stdout', 'other\n'],
    ['a', 2, 'stdout', 'two, out\n'],
    ['a', 2, 'stderr', 'two, err\n'],
    ['a', 3, 'stderr', 'three\n'],
  ];
  expect(written(attempts)).toBe(
    '[a] one\n[b] other\n[a] --- attempt 2 ---\n[a] two, out\n[a] two, err\n[a] --- attempt 3 ---\n[a] three\n',
  );
  expect(written(attempts, { tail: 1 })).toBe('[a] --- attempt 3 ---\n[a] three\n');
  expect(written(attempts, { marksAttempts: false })).not.toContain('---');
  expect(written(attempts, { form: 'json' })).not.toContain('---');
});
