import { expect, test } from 'vitest';
import { createAnsiSpans } from '#run-view/ansi-spans.tsx';

const link = (address: string, text: string, end = '\u001b\\') =>
  `\u001b]8;id=1;${address}${end}${text}\u001b]8;;${end}`;

test('links accept only http and https, and end with their line', () => {
  const spansOf = createAnsiSpans();
  const read = (line: string) => spansOf(line).map(({ text, href, classes }) => [text, href, ...classes]);

  expect(read(`see ${link('https://example.org/a;b?c=1', 'the \u001b[31mdocs\u001b[0m')} now`)).toEqual([
    ['see ', undefined],
    ['the ', 'https://example.org/a;b?c=1'],
    ['docs', 'https://example.org/a;b?c=1', 'fg1'],
    [' now', undefined],
  ]);
  expect(read(link('HTTP://example.org/', 'x', '\u0007'))).toEqual([['x', 'HTTP://example.org/']]);
  for (const address of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://a b',
    'https://\u202emoc',
    '/runs',
    '',
  ]) {
    expect(read(link(address, 'x')).map(([, href]) => href)).toEqual([undefined]);
  }
  expect([read('\u001b]8;;https://example.org/\u0007open'), read('next')]).toEqual([
    [['open', 'https://example.org/']],
    [['next', undefined]],
  ]);
});
