import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { quoteWord } from '#core/words/quote-word.ts';

/** The words that a shell reads from a line, one per line. */
function readByShell(line: string): string[] {
  const out = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { env: { PATH: process.env['PATH'] } });
  return out.toString().split('\0').slice(0, -1);
}

const words = [
  'plain',
  '',
  'two words',
  "it's",
  '$HOME',
  '`id`',
  'a"b',
  '\\n',
  'a\nb',
  '*',
  '~',
  '#x',
  '${NAME',
  'a;b|c&d',
];

describe('a quoted word', () => {
  it.each(words)('%j is read back by a shell', (word) => {
    expect(readByShell(quoteWord(word))).toEqual([word]);
  });

  it('has no quotes where none are needed', () => {
    expect(['make', 'A=1', '--jobs=2', './run.sh'].map(quoteWord)).toEqual(['make', 'A=1', '--jobs=2', './run.sh']);
  });
});
