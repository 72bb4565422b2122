import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandWords, parseCommand, type WordPiece } from '#core/words/words.ts';
import fc from '../../support/fast-check.ts';

const values: Readonly<Record<string, string>> = { A: 'a b', X: 'x', EMPTY: '', Q: '"\'$X`id`*;', '1': 'first' };

/** The words of a command; null if it needs a shell. */
function words(text: string, scope = (name: string) => values[name]): readonly string[] | null {
  const parsed = parseCommand(text);
  return parsed.kind === 'words' ? expandWords(parsed.words, scope) : null;
}

describe('a command is words', () => {
  test.each([
    ['', []],
    [' \t echo  a\tb ', ['echo', 'a', 'b']],
    ['echo a\n\n', ['echo', 'a']],
    ['\n  echo a\n ', ['echo', 'a']],
    ['echo a \\\n  b\\\nc', ['echo', 'a', 'bc']],
    ['done! 100% a=b x#y +z @f ^ , :', ['done!', '100%', 'a=b', 'x#y', '+z', '@f', '^', ',', ':']],
    ['echo } { ! {a,b} a~b', ['echo', '}', '{', '!', '{a,b}', 'a~b']],
    ['test -f x', ['test', '-f', 'x']],
  ])('%j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test.each([
    ["echo 'a  b' '\\' '$A' '`x`' '|;'", ['echo', 'a  b', '\\', '$A', '`x`', '|;']],
    ['echo "a  b" "\'" "|;*~#" "a\nb"', ['echo', 'a  b', "'", '|;*~#', 'a\nb']],
    ['echo "\\\\ \\" \\$A \\` \\n" "a\\\nb"', ['echo', '\\ " $A ` \\n', 'ab']],
    ['echo \\a\\ b \\"\\\' \\$A \\| \\\\', ['echo', 'a b', '"\'', '$A', '|', '\\']],
    ['a\'b\'"c"\\d', ['abcd']],
    ["'' \"\" ''x", ['', '', 'x']],
    ['sed s/,/\\n/g \\t\\r \\\\n \\\\\\n', ['sed', 's/,/\\n/g', '\\t\\r', '\\n', '\\\\n']],
    ['echo \\a\\N "\\n" \'\\n\' ${NONE:-\\n}', ['echo', 'aN', '\\n', '\\n', '\\n']],
  ])('with quotes: %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test.each([
    ['echo $A x$A ${A}y "$A"', ['echo', 'a b', 'xa b', 'a by', 'a b']],
    ['echo $Q "$Q"', ['echo', values['Q'], values['Q']]],
    ['echo $1 $11 ${1}1', ['echo', 'first', 'first1', 'first1']],
    ['echo $EMPTY $NONE $EMPTY${NONE} "$EMPTY" $EMPTY"" x$EMPTY', ['echo', '', '', 'x']],
    ['$EMPTY echo', ['echo']],
    ['echo ${NONE:-d} ${EMPTY:-a b} ${A:-d} ${NONE:-} "${NONE:-}"', ['echo', 'd', 'a b', 'a b', '']],
    ['echo ${NONE:-"x  y" \'z\' \\}} "${NONE:-it\'s \\} $X}"', ['echo', 'x  y z }', "it's } x"]],
    ['echo ${NONE:-${EMPTY:-$X}} ${NONE:-""}', ['echo', 'x', '']],
    ['echo $ a$ "$" $% "a$ b"', ['echo', '$', 'a$', '$', '$%', 'a$ b']],
  ])('with variables: %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });
});

describe('a command needs the shell for', () => {
  test.each(['a | b', 'a&', 'a && b', 'a;b', 'a <b', 'a>b', '(a)', 'a )', 'a\nb', 'a 2>&1', '"a"|b'])(
    'operators: %j',
    (text) => {
      expect(words(text)).toBeNull();
    },
  );

  test.each(['ls *', 'ls a?', 'ls [ab]', '[ -f x ]', 'ls ~', 'ls ~/x', '~/x', 'echo ${X:-*}', 'echo ${X:-~}'])(
    'patterns and homes: %j',
    (text) => {
      expect(words(text)).toBeNull();
    },
  );

  test.each(['A=1 b', 'A=1', 'A+=1', 'A="x y" b', '# a', 'a # b'])('assignments and comments: %j', (text) => {
    expect(words(text)).toBeNull();
  });

  test.each([
    '`a`',
    '"`a`"',
    '$(a)',
    '"$(a)"',
    '$((1))',
    '${A%b}',
    '"${A%b}"',
    '${A-b}',
    '${#A}',
    '${A:=b}',
    '${NONE:-`a`}',
    '${}',
    '${A',
  ])('substitutions and other brace expansions: %j', (text) => {
    expect(words(text)).toBeNull();
  });

  test.each(['$@', '"$@"', '$*', '$#', '$?', '$$', '$!', '$-', '$0', '"a$?"', "$'a'", '$"a"', '$[1]'])(
    'special parameters: %j',
    (text) => {
      expect(words(`echo ${text}`)).toBeNull();
    },
  );

  test.each([
    'if a',
    'cd x',
    'export A',
    'exit 3',
    '. f',
    ': x',
    '{ a',
    '! a',
    'ulimit -n 5',
    '"cd" x',
    'time a',
    'umask',
  ])('commands of the shell itself: %j', (text) => {
    expect(words(text)).toBeNull();
  });

  test.each(["a 'b", 'a "b', 'a \\', 'a "b\\"', '"${X:-"a"}"', 'a $\\\nX', 'a $X\\\nY'])(
    'unusual or unclosed text: %j',
    (text) => {
      expect(words(text)).toBeNull();
    },
  );
});

test('a variable that names a shell command is a program, and values are never parsed', () => {
  expect(words('$C $V', (name) => ({ C: 'cd', V: '$A; b | c "' })[name])).toEqual(['cd', '$A; b | c "']);
});

test('deep nesting and long blanks are handled', () => {
  expect(words('${A:-'.repeat(100_000))).toBeNull();
  expect(words(`echo${' '.repeat(100_000)}\n${' \n'.repeat(100_000)}`)).toEqual(['echo']);
});

test('a command not left to the shell is split into the same words as by a shell', () => {
  const piece = fc.constantFrom(
    ...' \t\n\'"\\$aX1-=~#{}!:',
    '$X',
    '${X}',
    '$EMPTY',
    '${EMPTY:-',
    '${N:-d}',
    '"$X"',
    '""',
    "'",
    '\\\n',
    '$1',
    ' ',
    ' ',
  );
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => `${argv} ${pieces.join('')}`);
  let compared = 0;
  fc.assert(
    fc.property(text, (command) => {
      // Values and defaults without blanks: a shell would split them, whereas here they stay one word.
      const own = words(command, (name) => ({ X: 'x', EMPTY: '', '1': 'p' })[name]);
      // An error in every shell, which is text here.
      fc.pre(own !== null && !hasBlankDefault(parseCommand(command)) && !command.includes('${{'));
      compared++;
      const { stdout, status } = spawnSync('sh', ['-c', command, 'sh', 'p'], {
        env: { PATH: '/usr/bin:/bin', X: 'x', EMPTY: '' },
      });
      expect({ words: own, status }).toEqual({
        words: [argv, ...stdout.toString().split('\0').slice(0, -1)],
        status: 0,
      });
    }),
    { numRuns: 400 },
  );
  expect(compared).toBeGreaterThan(100);
});

/** Whether an unquoted variable has a default that contains blanks. */
function hasBlankDefault(parsed: ReturnType<typeof parseCommand>): boolean {
  const isBlank = (piece: WordPiece): boolean =>
    typeof piece !== 'string' &&
    !piece.quoted &&
    piece.fallback.some((part) => (typeof part === 'string' && /[ \t]/.test(part)) || isBlank(part));
  return parsed.kind === 'words' && parsed.words.some((word) => word.some(isBlank));
}

const argv = resolve(import.meta.dirname, '../../../fixtures/programs/argv.sh');
