import { expect, it } from 'vitest';
import { markup as render } from '#render/report.tsx';
import { createAnsiSpans, Spans } from '#run-view/ansi-spans.tsx';

const esc = '\u001b';

function lines(...texts: readonly string[]): readonly string[] {
  const spansOf = createAnsiSpans();
  return texts.map((text) => render(<Spans spans={spansOf(text)} />).trimEnd());
}

it.each([
  ['plain', 'plain'],
  [`${esc}[31mred${esc}[0m plain`, '<span class="fg1">red</span> plain'],
  [`${esc}[1;97;44mx${esc}[m`, '<span class="bold fg15 bg4">x</span>'],
  [`${esc}[38;5;9mx`, '<span class="fg9">x</span>'],
  [`${esc}[38;5;196mx`, '<span style="color:#ff0000;">x</span>'],
  [`${esc}[48;5;244mx`, '<span style="background:#808080;">x</span>'],
  [`${esc}[38;2;1;2;255mx`, '<span style="color:#0102ff;">x</span>'],
  [`${esc}[38:2::1:2:255mx`, '<span style="color:#0102ff;">x</span>'],
  [`${esc}[38;5;300mx`, 'x'],
  [`${esc}[7;31mx`, '<span class="inverse bg1">x</span>'],
  [`${esc}[4;9mx${esc}[24my`, '<span class="under strike">x</span><span class="strike">y</span>'],
  [`${esc}[31m${esc}[32mx`, '<span class="fg2">x</span>'],
])('%j is converted to markup', (text, markup) => {
  expect(lines(text)).toEqual([markup]);
});

it('removes every sequence that is neither a colour nor a link', () => {
  expect(lines(`${esc}[2J${esc}[10;10Ha${esc}]0;title\u0007b${esc}[>4md\u0008\u0000`)).toEqual(['abd']);
  expect(lines(`${esc}]8;;http://x${esc}\\c${esc}]8;;${esc}\\`)).toEqual([
    '<a href="http://x" target="_blank" rel="noopener noreferrer">c</a>',
  ]);
  expect(lines(`${esc}]8;;javascript:x${esc}\\c`)).toEqual(['c']);
});

it('continues styles in the next line, in spans of its own', () => {
  expect(lines(`${esc}[33mfirst`, 'second', `${esc}[0mthird`)).toEqual([
    '<span class="fg3">first</span>',
    '<span class="fg3">second</span>',
    'third',
  ]);
});

it('escapes the text between colours', () => {
  expect(lines(`${esc}[31m</span><script>${esc}[38;2;0;0;0m"\u202e`)).toEqual([
    '<span class="fg1">&lt;/span>&lt;script></span><span style="color:#000000;">&quot;&lt;U+202E&gt;</span>',
  ]);
});
