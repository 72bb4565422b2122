import { spawnSync } from 'node:child_process';
import { describe, expect, it, test } from 'vitest';
import { scanShell } from '#core/words/shell-scan.ts';
import fc from '../../support/fast-check.ts';

describe('an unclosed quote', () => {
  it.each([
    ["echo it's done", 7],
    ['echo "a', 5],
    ['echo "a $(b "c) d"', 5],
    ["cat <<E\nit's\nE\necho 'x", 20],
    ["echo # it's\necho it's", 19],
    ["echo ${x:-it's}", 12],
  ])('is found in %j', (text, at) => {
    expect(scanShell(text).openQuote).toBe(at);
  });

  it.each([
    "echo it\\'s 'a'\\''b' \"it's\" '\"'",
    "echo # it's",
    'cat <<E\nit\'s "\nE\n',
    'echo "`date # it\'s`"',
    'echo "$(echo "a b" \')\')" `echo "x"`',
    'echo "${x:-it\'s}" ${x/ #/"}"}',
  ])('is not found in %j', (text) => {
    expect(scanShell(text).openQuote).toBeNull();
  });
});

test.each([
  ['echo $A "${B:-1}" \'$C\' # $D', ['A', 'B']],
  ["cat <<'E' <<F\n$A\nE\n$B $(echo '$C' $D)\nF\necho $E", ['B', 'D', 'E']],
  ["echo $((A << 1)) $((echo $B); echo '$C')", ['B']],
  ["echo $'it\\'s $A' $B", ['B']],
])('the variables in %j are those that a shell would expand', (text, names) => {
  const { variables, isClear } = scanShell(text);
  expect({ names: variables.map(({ name }) => name), isClear }).toEqual({ names, isClear: true });
});

test.each(['echo "$A', 'cat <<E\n$A', '$(case x in a) echo; esac)', "cat <<E\n$(echo ')\nE\n"])(
  'a shell may read %j in another way',
  (text) => {
    expect(scanShell(text).isClear).toBe(false);
  },
);

test('a text with an unclosed quote is a syntax error in a shell', () => {
  const pieces = [...'\'"\\ a#$(){}\n;|', "'", '"', '$(', '${x:-', '${x#', "it's", '# ', '`', 'echo ', '$x'];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => `: ${parts.join('')}`);
  let compared = 0;
  fc.assert(
    fc.property(text, (code) => {
      // After a stray ")" or "}" in backticks, some shells read no further.
      fc.pre(scanShell(code).openQuote !== null && !code.includes("$'") && !/`[^`]*[)}]/.test(code));
      compared++;
      expect(spawnSync('sh', ['-n', '-c', code]).status).not.toBe(0);
    }),
    { numRuns: 300 },
  );
  expect(compared).toBeGreaterThan(100);
});
