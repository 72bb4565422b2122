import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { appendArgs } from '#core/words/command-args.ts';
import fc from '../../support/fast-check.ts';

describe('words can be appended', () => {
  test.each([
    ['a | b', 'a | b "$W"'],
    ['a;b c\n\n', 'a;b c "$W"'],
    ['cd x && make  ', 'cd x && make "$W"'],
    ['A=1 B="x y" a', 'A=1 B="x y" a "$W"'],
    ['a >f 2>&1', 'a >f 2>&1 "$W"'],
    ['a "$(b; c)" `d|e` ${F:-)}', 'a "$(b; c)" `d|e` ${F:-)} "$W"'],
    ['(a) && b \\;', '(a) && b \\; "$W"'],
    ['"$A" | "b"', '"$A" | "b" "$W"'],
    ['A=1 \\\na', 'A=1 \\\na "$W"'],
    ["a '\\\n'", 'a \'\\\n\' "$W"'],
  ])('%j', (text, expected) => {
    expect(appendArgs(text, ['"$W"'])).toBe(expected);
  });
});

describe('words cannot be appended where they would be lost or become a command', () => {
  test.each([
    '',
    'a &',
    'a;',
    'a |',
    'a &&',
    '(a)',
    'a # b',
    '# a',
    'A=1',
    'a; A=1',
    '> f',
    '$A',
    'b | $A',
    '${A}',
    '`a`',
    '\\\n$A',
    '\\\nA=1 ',
    'A\\\n=1',
    'f\\\ni',
    'a &\\\n',
    '>\\\nf',
    'a "b',
    "a 'b",
    'a $(b',
    'a <<E\nb\nE',
    'a \\',
    'if a; then b; fi',
    'for i in a b; do c; done',
    '{ a; }',
    '! a',
    'f() a',
    'case a in a) b',
  ])('%j', (text) => {
    expect(appendArgs(text, ['"$W"'])).toBeNull();
  });
});

test('whatever the text, an appended word is never taken for a program', () => {
  const programs = resolve(import.meta.dirname, '../../../fixtures/programs');
  const piece = fc.constantFrom(
    ...' \n;&|(){}<>#\'"\\$`!=',
    'argv.sh',
    'argv.sh',
    'argv.sh ',
    ' && ',
    'A=1 ',
    '$E',
    '$(',
    'if ',
    'fi',
    'in ',
  );
  const text = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
  let run = 0;
  fc.assert(
    fc.property(text, (code) => {
      const appended = appendArgs(code, ['"$W"']);
      fc.pre(appended !== null);
      run++;
      // As a program, the value would leave its mark on standard error.
      const env = { PATH: `${programs}:/usr/bin:/bin`, E: '', W: 'appended-word' };
      const { stderr } = spawnSync('sh', ['-c', appended], { env, cwd: '/proc', timeout: 5000 });
      expect(stderr.toString()).not.toContain('appended-word: not found');
    }),
    { numRuns: 600 },
  );
  expect(run).toBeGreaterThan(20);
});
