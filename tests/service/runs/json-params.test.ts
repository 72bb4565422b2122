import { expect, it } from 'vitest';
import { parseParamDefaults, parseParams } from '#language/params.ts';
import { acceptParams } from '#service/runs/given-params.ts';
import { step, workflow } from '../../support/workflow.ts';

function accepted(params: string, given: string, command = 'true'): string[] {
  const flow = workflow({ params: parseParamDefaults(params), steps: [step('a', { command })] });
  return acceptParams(flow, parseParams(given)).map(({ name, value }) => (name === null ? value : `${name}: ${value}`));
}

it.each([
  ['A=1 B=2', '{"A": "x", "B": "y z"}', ['A: x', 'B: y z']],
  ['A=1 B=2', ' { "B" : "$(id) \\"q\\" \\u00e9" } ', ['B: $(id) "q" é']],
  ['A=1 B=2', 'B=3 {"A":true}', ['B: 3', 'A: true']],
  ['A=1', '{"A": 12345678901234567890}', ['A: 12345678901234567890']],
  ['A=1', '{"A": 1.50}', ['A: 1.50']],
  ['A=1', '{"A": null}', ['A: ']],
  ['A=1', '{"A": [1, {"b": 2}]}', ['A: [1,{"b":2}]']],
])('%s takes %s as named parameters', (params, given, expected) => {
  expect(accepted(params, given)).toEqual(expected);
});

it.each([
  ['A=1', '{"host": "h", "port": 1}', 'true'],
  ['A=1', '["A"]', 'true'],
  ['A=1', '{"A": 1', 'true'],
  ['A=1', '{}', 'true'],
  ['first', '{"A": "x"}', 'echo $A'],
  ['first A=1', '{"A": "x"}', 'true'],
  ['', '{"A": "x"}', 'echo $1'],
])('%s takes %s as a value', (params, json, command) => {
  const given = `"${json.replace(/"/g, '\\"')}"`;
  expect(accepted(params, given, command)).toEqual([json]);
});

it('does not read the stored list of a run again', () => {
  expect(accepted('A=1', 'A=x {"A":"y"}', 'echo $2')).toEqual(['A: x', '{"A":"y"}']);
});

it('takes two JSON objects as two values', () => {
  expect(accepted('A=1 B=2', '{"A":1} {"B":2}')).toEqual(['{"A":1}', '{"B":2}']);
});

it('refuses a JSON object of which only some keys are parameters', () => {
  expect(() => accepted('EVENT=none TAG=1', '{"EVENT": "push", "TAGG": 2}')).toThrow(
    expect.objectContaining({
      code: 'invalid-params',
      message: 'unknown parameter "TAGG": did you mean "TAG"? It takes EVENT, TAG',
      help: "the keys of the JSON text are parameters; to give the text itself, name one: -p EVENT='{...}'",
    }),
  );
});
