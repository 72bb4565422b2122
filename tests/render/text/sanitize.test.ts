import { expect, test } from 'vitest';
import { escapeControls, keepColors, stripControls } from '#render/text/sanitize.ts';
import { breakRows, isolateColors } from '#render/text/sgr.ts';
import fc from '../../support/fast-check.ts';

const esc = '\u001b';

test.each([
  [`${esc}[2Jgone`, '^[[2Jgone'],
  ['bell\u0007', 'bell^G'],
  ['delete\u007f', 'delete^?'],
  ['two\nlines\r\n', 'two lines  '],
  ['\u009b31m', '<U+009B>31m'],
  ['left\u202eright', 'left<U+202E>right'],
  ['\ud800', '\ufffd'],
  ['日本 👨‍👩‍👧 é', '日本 👨‍👩‍👧 é'],
])('%j becomes the harmless %j', (text, expected) => {
  expect(escapeControls(text)).toBe(expected);
});

test.each([
  ['colours stay', `${esc}[1;31mred${esc}[0m`, `${esc}[1;31mred${esc}[0m`],
  ['the cursor is not moved', `a${esc}[2Ab${esc}[10;10Hc${esc}[2K`, 'abc'],
  ['a title is not set', `${esc}]0;title\u0007text`, 'text'],
  ['a link loses its address', `${esc}]8;;http://host${esc}\\link${esc}]8;;${esc}\\`, 'link'],
  ['a private sequence that ends in m is no colour', `${esc}[>4;2mtext`, 'text'],
  ['a torn sequence is dropped', `text${esc}[`, 'text'],
  ['controls but the tab are dropped', 'a\tb\u0008c\u0000d\u009be', 'a\tbcde'],
  ['the screen is not reset', `${esc}ctext${esc}(0`, 'text'],
])('in output %s', (_what, line, expected) => {
  expect(keepColors(line)).toBe(expected);
});

test('measured text has neither colours nor tabs', () => {
  expect(stripControls(`${esc}[31ma\tb${esc}[0m`)).toBe('a  b');
});

test('in any output, no control character except the tab and colours remains', () => {
  const piece = fc.constantFrom(
    esc,
    '[',
    ']',
    '0',
    ';',
    'm',
    'A',
    '?',
    '\u0007',
    '\u009b',
    '\\',
    'P',
    ' ',
    'x',
    '\t',
    '\r',
    '\u0000',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be found
      const rest = keepColors(pieces.join('')).replace(/\u001b\[[0-9;:]*m/g, '');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be found
      expect(rest).not.toMatch(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/);
    }),
  );
});

test('an open colour ends with its line and is restored in the next', () => {
  const open = new Map<string, string>();
  const lines = [`${esc}[1;31mred`, 'still', `done${esc}[0m`, 'plain'].map((line) => isolateColors(line, open));
  expect(lines).toEqual([
    `${esc}[1;31mred${esc}[0m`,
    `${esc}[1m${esc}[31mstill${esc}[0m`,
    `${esc}[1m${esc}[31mdone${esc}[0m`,
    'plain',
  ]);
});

test.each([
  ['a short line', 'abc', ['abc']],
  ['a full row', 'abcdefgh', ['abcdefgh']],
  ['a long line', 'abcdefghij', ['abcdefgh', 'ij']],
  ['an empty line', '', ['']],
  ['wide characters', 'a漢字漢字', ['a漢字漢', '字']],
  ['an accent after a full row', 'abcdefghe\u0301', ['abcdefgh', 'e\u0301']],
  ['a tab, to the next eighth cell of the line', 'abcdefghi\tj', ['abcdefgh', 'i       ', 'j']],
  [
    'a colour, in each row',
    `${esc}[1;31mabcdefghij${esc}[0m`,
    [`${esc}[1;31mabcdefgh${esc}[0m`, `${esc}[1m${esc}[31mij${esc}[0m`],
  ],
  ['a colour that has ended', `${esc}[31mab${esc}[39mcdefghij`, [`${esc}[31mab${esc}[39mcdefgh`, 'ij']],
])('%s is broken into rows of eight cells', (_what, line, expected) => {
  expect(breakRows(line, 8)).toEqual(expected);
});

test.each([
  ['a default closes a foreground', `${esc}[38;5;200m${esc}[39m`, []],
  ['a later colour replaces an earlier one', `${esc}[31m${esc}[38;2;1;2;3m`, ['38;2;1;2;3']],
  ['normal weight closes bold and dim', `${esc}[1m${esc}[2m${esc}[22m`, []],
  ['no number is a reset', `${esc}[44m${esc}[m`, []],
  ['foreground and background are two things', `${esc}[31;44m`, ['31', '44']],
  ['colons belong to one code', `${esc}[38:5:200m`, ['38:5:200']],
  ['what means nothing is not carried on', `${esc}[999m`, []],
])('of colours, %s', (_what, line, expected) => {
  const open = new Map<string, string>();
  isolateColors(line, open);
  expect([...open.values()]).toEqual(expected);
});
