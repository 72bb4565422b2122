import { describe, expect, test } from 'vitest';
import { expandText, references, splitBackticks } from '#core/words/interpolate.ts';
import fc from '../../support/fast-check.ts';

const values: Readonly<Record<string, string>> = { A: 'a b', EMPTY: '', Q: '$A `id` \\$', '1': 'first', '10': 'tenth' };
const scope = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);

describe('a text outside commands', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['$A', 'a b'],
    ['x${A}y', 'xa by'],
    ['$A_', ''],
    ['[$NONE]', '[]'],
    ['$1, ${1}, ${10}, $10', 'first, first, tenth, first0'],
    ['${NONE:-x y}', 'x y'],
    ['${EMPTY:-x}', 'x'],
    ['${A:-x}', 'a b'],
    ['${NONE:-}', ''],
    ['${NONE:-<${A}>}', '<a b>'],
    ['${NONE:-${NO:-${1}}}', 'first'],
    ['${NONE:-a\\}b}c', 'a}bc'],
    ['${NONE:-\\$A}', '$A'],
  ])('%j becomes %j', (template, text) => {
    expect(expandText(template, scope)).toBe(text);
  });

  test.each([
    ['\\$A', '$A'],
    ['\\${A}', '${A}'],
    ['\\\\$A', '\\$A'],
    ['a\\b', 'a\\b'],
    ['a\\}', 'a\\}'],
  ])('a backslash escapes a dollar and nothing else: %j', (template, text) => {
    expect(expandText(template, scope)).toBe(text);
  });

  test.each([
    '"a" \'b\' `c` $(d)',
    '$',
    '$ 1',
    '$0',
    '$$ $? $# $@ $* $!',
    '${',
    '${}',
    '${A',
    '${A%b}',
    '${A-b}',
    '${0}',
    '${A:-',
  ])('everything else stays as written: %j', (template) => {
    expect(expandText(template, scope)).toBe(template);
  });

  test('text around an unclosed brace is still replaced', () => {
    expect(expandText('$1 ${A:-$1 ${B:-$1} }', scope)).toBe('first a b');
    expect(expandText('$1 ${A:-$1 ${B:-$1 ', scope)).toBe('first ${A:-first ${B:-first ');
  });

  test('a value is not expanded again', () => {
    expect(expandText('$Q', scope)).toBe(values['Q']);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':-', '\\', '`', '"') }), (value) => {
        expect(expandText('<$X${X}${N:-$X}>', (name) => (name === 'X' ? value : undefined))).toBe(
          `<${value.repeat(3)}>`,
        );
      }),
    );
  });

  test('deep nesting does not exhaust the stack', () => {
    const deep = '${A:-'.repeat(100_000);
    expect(expandText(deep, () => undefined)).toBe(deep);
    expect(references(`${deep}${'}'.repeat(100_000)}`)).toEqual(['A']);
    expect(splitBackticks('$('.repeat(100_000))).toEqual([{ text: '$('.repeat(100_000) }]);
  });
});

describe('the names that a template uses', () => {
  test.each([
    ['plain \\$A', []],
    ['$A ${B} $A ${C:-${D}} $1 ${22}', ['A', 'B', 'C', 'D', '1', '22']],
    ['$A `echo $B` $(echo $C)', ['A', 'B', 'C']],
    ["`echo '$A' \"$B '$C'\" \\$D it\\'s $E`", ['B', 'C', 'D', 'E']],
    ['`echo ${A%x} ${#B} ${C:-$D} $$ $10`', ['A', 'B', 'C', 'D', '1']],
    ['${A%x}', []],
  ])('%j: %j', (template, names) => {
    expect(references(template)).toEqual(names);
  });
});

describe('substitutions', () => {
  test.each([
    ['', []],
    ['plain $A', [{ text: 'plain $A' }]],
    ['`date`', [{ command: 'date' }]],
    ['a`b`$(c)d', [{ text: 'a' }, { command: 'b' }, { command: 'c' }, { text: 'd' }]],
    ['"`date`"', [{ text: '"' }, { command: 'date' }, { text: '"' }]],
    ['`a \\`b\\` \\\\ \\$x \\n`', [{ command: 'a `b` \\ $x \\n' }]],
    ['$(a "$(b ")")" \')\' \\) (c))d', [{ command: 'a "$(b ")")" \')\' \\) (c)' }, { text: 'd' }]],
    ['$(a "it\'s" `b )`)', [{ command: 'a "it\'s" `b )`' }]],
  ])('of %j', (template, parts) => {
    expect(splitBackticks(template)).toEqual(parts);
  });

  test.each([
    ['a \\` b', [{ text: 'a ` b' }]],
    ['\\$(date) \\$A', [{ text: '\\$(date) \\$A' }]],
    ['$((1 + 2))', [{ text: '$((1 + 2))' }]],
  ])('are not in %j', (template, parts) => {
    expect(splitBackticks(template)).toEqual(parts);
  });

  test.each(['a `b', 'a $(b', 'a $(b "c) $(d)'])('that are never closed are text: %j', (template) => {
    expect(splitBackticks(template)).toEqual([{ text: template }]);
  });
});
