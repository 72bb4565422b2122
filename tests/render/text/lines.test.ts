import { describe, expect, test } from 'vitest';
import { type CarriageReturn, createPieceSplitter, LONGEST_LINE } from '#render/text/lines.ts';
import fc from '../../support/fast-check.ts';

function createLineSplitter(carriageReturn: CarriageReturn) {
  const pieces = createPieceSplitter(carriageReturn);
  const texts = (found: ReturnType<typeof pieces.push>) => found.map(({ text }) => text);
  return { push: (bytes: Uint8Array) => texts(pieces.push(bytes)), flush: () => texts(pieces.flush()) };
}

/** Splits the chunks and returns every line, including the unfinished one. */
function linesOf(
  chunks: readonly (string | Uint8Array)[],
  carriageReturn: CarriageReturn = 'overwrite',
): readonly string[] {
  const splitter = createLineSplitter(carriageReturn);
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  return [...bytes.flatMap((chunk) => splitter.push(chunk)), ...splitter.flush()];
}

/** Cuts bytes at the given positions. */
function chop(bytes: Uint8Array, offsets: readonly number[]): readonly Uint8Array[] {
  const sorted = [0, ...offsets.map((offset) => offset % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

test.each<[string, string[], string[]]>([
  ['nothing is no line', [], []],
  ['an empty line is a line', ['\n\n'], ['', '']],
  ['a line may come in pieces', ['a', 'b', 'c\nd'], ['abc', 'd']],
  ['CRLF is one line end', ['a\r\nb\r', '\nc'], ['a', 'b', 'c']],
  ['a progress bar is its last state', ['10%\r50%\r', '100%\n'], ['100%']],
  ['a bar that ends on a return keeps its text', ['50%\r100%\r'], ['100%']],
  ['several returns are as one', ['a\r\r\nb\r\rc\n'], ['a', 'c']],
])('%s', (_what, chunks, expected) => {
  expect(linesOf(chunks)).toEqual(expected);
});

test('carriage returns are kept on request', () => {
  expect(linesOf(['10%\r50%\r\n'], 'keep')).toEqual(['10%\r50%\r']);
});

test('bytes that are not UTF-8 become the replacement character without other changes', () => {
  expect(linesOf([Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe6]), 'next'])).toEqual(['a\ufffdb', '\ufffdnext']);
});

test('a splitter that was flushed starts on a new line', () => {
  const splitter = createLineSplitter('overwrite');
  const begun = [...splitter.push(Buffer.from('a\rb')), ...splitter.flush()];
  expect([begun, splitter.push(Buffer.from('c\n')), splitter.flush()]).toEqual([['b'], ['c'], []]);
});

describe('a line without end', () => {
  test('is returned in pieces to limit memory', () => {
    const text = 'x'.repeat(LONGEST_LINE * 2 + 10);
    expect(linesOf([text]).map((line) => line.length)).toEqual([LONGEST_LINE, LONGEST_LINE, 10]);
  });

  test('is never cut inside a character', () => {
    const text = `x${'👍'.repeat(LONGEST_LINE)}`;
    const lines = linesOf([text]);
    expect([lines.join(''), lines.some((line) => /\p{Surrogate}/u.test(line))]).toEqual([text, false]);
  });

  test('that is redrawn endlessly is held once', () => {
    const splitter = createLineSplitter('overwrite');
    const given = Array.from({ length: 1000 }, (_, n) =>
      splitter.push(Buffer.from(`\r${'x'.repeat(1000)}${n}`)),
    ).flat();
    expect([given, splitter.flush().map((line) => line.length)]).toEqual([[], [1003]]);
  });
});

test('the lines depend on the bytes alone, not on their chunks', () => {
  const piece = fc.oneof(
    fc.constantFrom('\n', '\r', '\r\n', 'é', '日', '👨‍👩‍👧', 'text').map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 4 }),
  );
  const stream = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.concat(pieces));
  const returns = fc.constantFrom<CarriageReturn>('overwrite', 'keep');
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 20 }), returns, (bytes, offsets, carriageReturn) => {
      expect(linesOf(chop(bytes, offsets), carriageReturn)).toEqual(linesOf([bytes], carriageReturn));
    }),
  );
});
