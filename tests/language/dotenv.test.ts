import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { DotenvProblem, parseDotenv } from '#language/dotenv.ts';
import fc from '../support/fast-check.ts';

function values(text: string): Record<string, string> {
  return Object.fromEntries(parseDotenv(text).map(({ name, value }) => [name, value]));
}

test.each([
  ['A=b#c\nB= x y \n', { A: 'b', B: 'x y' }],
  ['export A=1\n# B=2\n\nC=$A', { A: '1', C: '$A' }],
  ['A="x\\ny" # note\nB=\'a\\nb\'\nC=`it\'s "so"`', { A: 'x\ny', B: 'a\\nb', C: 'it\'s "so"' }],
  ['A="two\nlines"\r\nB=""\r\nC=', { A: 'two\nlines', B: '', C: '' }],
  ['A==b\nB=x"y"\nA=2', { A: '2', B: 'x"y"' }],
])('a dotenv file is parsed as in Node: %j', (text, expected) => {
  expect(values(text)).toEqual(expected);
  expect(parseEnv(text)).toEqual(expected);
});

test('every file of assignments has the same values as in Node', () => {
  const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,3}$/).filter((text) => !text.startsWith('WF_'));
  const plain = fc.stringMatching(/^[a-z$\\="'`]{0,3}[a-z $#\\]{0,6}$/).filter((text) => !/^["'`\s]/.test(text));
  const quoted = fc
    .tuple(fc.constantFrom('"', "'", '`'), fc.stringMatching(/^[a-z \n#=\\]{0,8}$/))
    .map(([quote, text]) => `${quote}${text}${quote}`);
  const line = fc
    .tuple(fc.constantFrom('', 'export '), name, fc.oneof(plain, quoted))
    // Node 24 reads `export` as part of the name then.
    .filter(([on, , value]) => on === '' || value !== '');
  const lines = fc.array(
    fc.oneof({ weight: 4, arbitrary: line.map(([on, n, v]) => `${on}${n}=${v}`) }, fc.constant('# A=b')),
  );
  fc.assert(
    fc.property(lines, (all) => {
      // Node reads a comment at the very end as an assignment.
      const text = all.map((each) => `${each}\n`).join('');
      expect(values(text)).toEqual({ ...parseEnv(text) });
    }),
  );
});

test.each([
  ['A=1\nnothing\n', 2, 'this line is not "NAME=value"'],
  ['A=1\n\nB C=2', 3, 'this line is not "NAME=value"'],
  ['=x', 1, 'this line is not "NAME=value"'],
  ['A="x\ny"\nB="z\nC=1', 3, 'its quote is never closed'],
  ['A="x" y', 1, 'there is text after its closing quote'],
  ['A=1\nWF_HOME=/tmp', 2, '"WF_HOME" is reserved: names with "WF_" belong to wf'],
  ['A=x\0y', 1, 'the value of "A" contains the character U+0000'],
])('a line that is not an assignment is an error with its number: %j', (text, line, message) => {
  expect(() => parseDotenv(text)).toThrow(new DotenvProblem(line, message));
  try {
    parseDotenv(text);
  } catch (error) {
    expect(error).toMatchObject({ line });
  }
});
