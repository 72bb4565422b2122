import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';

/** The diagnostics of a text, with the text of the file that each one marks. */
function found(text: string) {
  const { diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
  return diagnostics.map(({ code, message, position, help }) => {
    const line = text.split('\n')[(position?.start.line ?? 0) - 1] ?? '';
    const marked = line.slice((position?.start.column ?? 1) - 1, (position?.end.column ?? 1) - 1);
    return { code, message, marked, help };
  });
}

const command = (text: string) => `steps:\n  - name: a\n    command: ${text}\n`;

describe('text that YAML does not read as one text because it is not in quotes', () => {
  it.each([
    ['a cron expression', 'schedule: */5 * * * *\nsteps: []\n', 'text that starts with "*" must be in quotes', '*/5 *'],
    ['a cron expression in a list', 'schedule:\n  - * * * * *\n', 'text that starts with "*" must be in quotes', '*'],
    ['an anchor without a name', command('& echo'), 'text that starts with "&" must be in quotes', '&'],
    ['text after |', command('| echo hi'), 'text after "|" must start on the next line', 'echo hi'],
    ['text after >', command('>x'), 'text after ">" must start on the next line', 'x'],
    ['a list beside its key', command('- echo'), 'a list cannot start on the line of its key', '-'],
    ['a test in brackets', command('[ -f x ] && y'), 'text follows the closing "]"', '&&'],
    ['text after braces', command('{x} y'), 'text follows the closing "}"', 'y'],
    ['text after a double quote', command('"a" b'), 'text follows the closing quote "', 'b'],
    ['text after a single quote', command("'a' b"), "text follows the closing quote '", 'b'],
    ['a closing bracket', command(']'), 'this bracket closes nothing', ']'],
    [
      'a variable in braces',
      'steps:\n  - {name: a, command: echo ${X}}\n',
      'text with "${" must be in quotes inside braces or brackets',
      '{',
    ],
    [
      'a variable in brackets',
      command('[echo, x ${X}]'),
      'text with "${" must be in quotes inside braces or brackets',
      '{',
    ],
  ])('%s', (_, text, message, marked) => {
    expect(found(text)).toEqual([{ code: 'yaml-syntax', message, marked, help: expect.stringMatching(/\S/) }]);
  });

  it('a lone "!", which YAML would drop', () => {
    const help = 'Put the whole text in quotes, such as "! test -f x".';
    const message = 'text that starts with "!" must be in quotes';
    expect(found(command('! test -f x'))).toEqual([{ code: 'unknown-tag', message, marked: '!', help }]);
    expect(found(command('"! test -f x"'))).toEqual([]);
  });

  it('text that looks like an alias', () => {
    const help = 'Text that starts with "*" must be in quotes.';
    const message = 'no anchor "&.txt" is defined before this alias';
    expect(found(command('*.txt'))).toEqual([{ code: 'unknown-anchor', message, marked: '*.txt', help }]);
  });
});

describe('a space that YAML takes for text', () => {
  it.each([
    ['before a key of a step', 'steps:\n  - name: a\n\u00a0   command: echo\n', 'a no-break space (U+00A0)'],
    ['before each line', 'steps:\n\u3000- name: a\n\u3000  command: echo\n', 'an ideographic space (U+3000)'],
    ['after ordinary spaces', 'env:\n  A: 1\n  \u2003B: 2\nsteps: []\n', 'a Unicode space (U+2003)'],
    ['in a block of text', 'steps:\n  - name: a\n    script: |\n\u00a0     echo\n', 'a no-break space (U+00A0)'],
  ])('%s', (_, text, name) => {
    const message = `${name} is used for indentation, but YAML allows only ordinary spaces`;
    const help = 'Replace it with an ordinary space.';
    expect(found(text)).toEqual([{ code: 'yaml-syntax', message, marked: expect.stringMatching(/^[^\S ]$/), help }]);
  });

  it.each([
    ['-', '  -\u00a0name: a\n    command: echo\n'],
    [':', '  - name: a\n    command:\u00a0echo\n'],
  ])('after "%s"', (mark, step) => {
    const message = `a no-break space (U+00A0) is used after "${mark}", but YAML allows only ordinary spaces`;
    expect(found(`steps:\n${step}`).map((problem) => problem.message)).toEqual([message]);
  });

  it('is allowed in text', () => {
    expect(found('steps:\n  - name: a\n    command: "\u00a0echo"\n    script: |\n      \u00a0echo\n')).toEqual([]);
  });
});
