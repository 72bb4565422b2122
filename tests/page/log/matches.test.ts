import { expect, test } from 'vitest';
import { hitFrom, markMatches, matcherOf } from '#page/log/matches.ts';
import { createAnsiSpans } from '#run-view/ansi-spans.tsx';

const query = (text: string, isRegex = false, isCaseSensitive = false) => ({ text, isRegex, isCaseSensitive });

test('the first hit at or after a line is found', () => {
  expect([0, 3, 4, 9, 10].map((line) => hitFrom([3, 5, 9], line))).toEqual([0, 0, 1, 2, 3]);
});

test('a text is highlighted, and an expression only if it cannot take long', () => {
  expect('a+b A+B aab'.match(matcherOf(query('a+b')) ?? '')).toEqual(['a+b', 'A+B']);
  expect('a+b A+B'.match(matcherOf(query('a+b', false, true)) ?? '')).toEqual(['a+b']);
  expect('exit 12, exit 3'.match(matcherOf(query('exit \\d+', true)) ?? '')).toEqual(['exit 12', 'exit 3']);
  expect(['(a+)+$', '(a|a)*', '.*.*x', '(?i)a', '('].map((text) => matcherOf(query(text, true)))).toEqual(
    Array(5).fill(null),
  );
});

test('a match is highlighted across colours, and the colours stay', () => {
  const spans = createAnsiSpans()('an \u001b[31mer\u001b[1mror\u001b[0m here');

  expect(markMatches(spans, /error/g).map(({ text, classes }) => [text, ...classes])).toEqual([
    ['an '],
    ['er', 'fg1', 'match'],
    ['ror', 'bold', 'fg1', 'match'],
    [' here'],
  ]);
  expect(markMatches(spans, /x*/g)).toBe(spans);
});
