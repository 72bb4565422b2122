import { expect, test } from 'vitest';
import { clusters, cut, padEnd, textWidth } from '#render/text/width.ts';

test.each([
  ['', 0],
  ['plain', 5],
  ['é', 1],
  ['e\u0301', 1],
  ['日本', 4],
  ['한국', 4],
  ['ｆｕｌｌ', 8],
  ['👍', 2],
  ['👨‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['🇩', 1],
  ['❤', 1],
  ['❤️', 2],
  ['⠋✔│●', 4],
  ['a\u200db', 2],
  ['नी', 1],
  ['☰', 2],
])('"%s" takes %i cells', (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test('text that needs no segmenter has the same width as with the segmenter', () => {
  const fast = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).filter(
    (sign) => sign >= ' ' && !/\p{Cc}/u.test(sign),
  );
  // With a wide character the segmenter measures the whole text.
  const different = fast.filter((sign) => textWidth(`x${sign}y`) + 2 !== textWidth(`x${sign}y日`));
  expect(different).toEqual([]);
});

test('a visible character is never split', () => {
  expect([...clusters('e\u0301👨‍👩‍👧日')]).toEqual([
    { text: 'e\u0301', width: 1 },
    { text: '👨‍👩‍👧', width: 2 },
    { text: '日', width: 2 },
  ]);
});

test.each([
  ['fits', 4, 'fits'],
  ['too long', 5, 'too …'],
  ['日本語', 6, '日本語'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['text', 1, '…'],
  ['text', 0, ''],
  ['text', -3, ''],
])('"%s" cut to %i cells is "%s"', (text, cells, expected) => {
  expect(cut(text, cells, '…')).toBe(expected);
});

test('a letter with many accents does not exceed the width', () => {
  const heap = `a${'\u0301'.repeat(100_000)}`;
  expect(cut(heap, 3, '…').length).toBeLessThan(100);
});

test('the width of a longer ellipsis is counted in cells too', () => {
  expect(cut('abcdefgh', 6, '...')).toBe('abc...');
  expect(cut('abcdefgh', 2, '...')).toBe('..');
});

test('padding counts cells', () => {
  expect([padEnd('日', 4), padEnd('longer', 4)]).toEqual(['日  ', 'longer']);
});
