import { expect, test } from 'vitest';
import { mentionsIn } from '#core/words/mentions.ts';

test.each<[string, readonly string[]]>([
  ['echo $A ${B} ${C:-d}', ['A', 'B', 'C']],
  ['${CFG.db.host} ${D%.txt} ${#E} ${!F} ${G[0]}', ['CFG', 'D', 'E', 'F', 'G']],
  ['${A:-${B}}', ['A', 'B']],
  ['sh -c \'echo $QUOTED\' "\\$ESCAPED"', ['QUOTED', 'ESCAPED']],
  ['echo $((COUNT + $STEP))', ['COUNT', 'STEP']],
  ['echo A $ B $- $$ ${} $(cat C)', []],
])('the names in %s', (text, names) => {
  expect([...mentionsIn([text]).names].sort()).toEqual([...names].sort());
});

test.each<[string, number]>([
  ['echo one', 0],
  ['echo $0', 0],
  ['echo $1 ${3}', 3],
  ['echo ${12}', 12],
  ['echo $12', 1],
  ['echo ${2:-x} ${#1}', 2],
  ['cp "$@" /tmp', Number.POSITIVE_INFINITY],
  ['echo ${*}', Number.POSITIVE_INFINITY],
  ['echo ${@:2}', Number.POSITIVE_INFINITY],
  ['[ $# -gt 0 ]', Number.POSITIVE_INFINITY],
  ['echo ${#}', Number.POSITIVE_INFINITY],
  ['echo $NAME is 100$', 0],
])('the highest position in %s', (text, position) => {
  expect(mentionsIn([text]).position).toBe(position);
});
