import { expect, test } from 'vitest';
import { MAX_LINE_BYTES, PieceLines } from '#page/log/line-map.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** The lines of a log that arrives in chunks of this size. */
function read(log: Uint8Array, chunkSize: number): PieceLines {
  const lines = new PieceLines(100);
  for (let at = 0; at < log.length; at += chunkSize) lines.add(log.subarray(at, at + chunkSize));
  return lines;
}

const texts = (lines: PieceLines) => Array.from({ length: lines.length }, (_, index) => lines.at(index)?.text);

test.each([1, 3, 10_000])('lines are the same in chunks of %d bytes, wherever they are cut', (chunkSize) => {
  const lines = read(bytes('first\n\nsecönd\r\n10 %\r50 %\r\r100 %\nopen\rlast'), chunkSize);

  expect(texts(lines)).toEqual(['first', '', 'secönd', '100 %', 'last']);
  expect([lines.length, lines.finished, lines.to]).toEqual([5, 4, 142]);
});

test('a carriage return at the end waits for the next chunk', () => {
  const lines = new PieceLines(0);

  lines.add(bytes('1/2\r'));
  expect(texts(lines)).toEqual(['1/2']);
  lines.add(bytes('2/2\r'));
  expect(texts(lines)).toEqual(['2/2']);
  lines.add(bytes('\n'));
  expect(texts(lines)).toEqual(['2/2']);
});

test('bytes that are not UTF-8 become U+FFFD', () => {
  expect(texts(read(new Uint8Array([97, 0xff, 98, 10]), 10))).toEqual(['a\ufffdb']);
});

test('a line end at the end starts no new line', () => {
  const lines = read(bytes('one\n'), 10);

  expect([lines.length, lines.at(0), lines.at(1)]).toEqual([1, { text: 'one', cut: null, end: 104 }, null]);
});

test('a long line is cut between two characters, with its position in the log', () => {
  const long = 'ö'.repeat(MAX_LINE_BYTES);
  const lines = read(bytes(`a\nx${long}\nb\n`), 7);

  expect(lines.at(1)).toEqual({
    text: `x${'ö'.repeat(MAX_LINE_BYTES / 2 - 1)}`,
    cut: { from: 102, to: 20_103 },
    end: 20_104,
  });
  expect(lines.at(2)).toEqual({ text: 'b', cut: null, end: 20_106 });
});

test('a program that overwrites a line for hours leaves its last state', () => {
  const lines = read(bytes(`${'progress\r'.repeat(10_000)}done\n`), 4096);

  expect(lines.at(0)).toEqual({ text: 'done', cut: null, end: 90_105 });
});
