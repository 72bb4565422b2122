import { describe, expect, test } from 'vitest';
import { jqProgram } from '#executors/jq/jq.ts';

const values: Readonly<Record<string, string>> = {
  NAME: 'a "b"\n',
  N: '3',
  ENV: 'e',
  EMPTY: '',
  '1': 'first',
  x: 'known',
};

function program(template: string) {
  const { filter, variables } = jqProgram(template, (name) => values[name]);
  return [filter, Object.fromEntries(variables)];
}

describe('in code', () => {
  test.each([
    ['.a | length', '.a | length', {}],
    ['.a == $NAME', '.a == $NAME', { NAME: values['NAME'] }],
    ['{$NAME, n: $N}', '{$NAME, n: $N}', { NAME: values['NAME'], N: '3' }],
    ['.[$1]', '.[$__wf_1]', { __wf_1: 'first' }],
    ['$2', '$__wf_2', { __wf_2: '' }],
    ['. as $item | $item', '. as $item | $item', {}],
    ['. as $x | $x', '. as $x | $x', { x: 'known' }],
    ['$__loc__, $ENV.PATH', '$__loc__, $ENV.PATH', {}],
    ['$mod::NAME, $N::b', '$mod::NAME, $N::b', {}],
    ['.[${N}:${NONE:-9}]', '.[3:9]', {}],
    ['.${NONE:-a.${N}}', '.a.3', {}],
    ['\\$NAME', '$NAME', {}],
    ['$NO', '$NO', {}],
    ['.a # "$NAME\n | $N', '.a # "$NAME\n | $N', { N: '3' }],
    ['.a // ")" | $N', '.a // ")" | $N', { N: '3' }],
    [') $N', ') $N', { N: '3' }],
  ])('%s', (template, filter, variables) => {
    expect(program(template)).toEqual([filter, variables]);
  });
});

describe('in a string', () => {
  test.each([
    ['"$NAME"', '"a \\"b\\"\\n"', {}],
    ['"${NAME}, ${NONE}, ${NONE:-d}"', '"a \\"b\\"\\n, , d"', {}],
    ['"$NO ^a$ $"', '"$NO ^a$ $"', {}],
    ['"\\$NAME \\" \\\\ $N"', '"$NAME \\" \\\\ 3"', {}],
    ['"\\($NAME) $N"', '"\\($NAME) 3"', { NAME: values['NAME'] }],
    ['"\\("in \\(.a | f("$N", $1)) $N") $N"', '"\\("in \\(.a | f("3", $__wf_1)) 3") 3"', { __wf_1: 'first' }],
    ['"$1"', '"first"', {}],
    ['@json "x=\\($N)"', '@json "x=\\($N)"', { N: '3' }],
    ['"open $N', '"open 3', {}],
    ['"open \\( $N', '"open \\( $N', { N: '3' }],
  ])('%s', (template, filter, variables) => {
    expect(program(template)).toEqual([filter, variables]);
  });
});
