import { expect, test } from 'vitest';
import { loadWorkflow } from '#language/load.ts';

const steps = 'steps:\n  - name: a\n    command: echo a\n';
const load = (text: string) => loadWorkflow({ text, file: null, dir: '/' });

test.each([
  ['a map', 'params:\n  A:\n  B: ""\n  C: x\n'],
  ['a map with nulls by name', 'params: { A: null, B: "", C: x }\n'],
  ['a list of maps', 'params:\n  - A:\n  - B: ""\n  - C: x\n'],
])('a parameter of %s is open only without a value', (_form, params) => {
  const { workflow, diagnostics } = load(params + steps);
  expect(diagnostics).toEqual([]);
  expect(workflow?.params).toEqual([
    { name: 'A', value: '', open: true },
    { name: 'B', value: '' },
    { name: 'C', value: 'x' },
  ]);
});

test('a parameter of a text is never open', () => {
  const { workflow } = load(`params: A= B="" c\n${steps}`);
  expect(workflow?.params).toEqual([
    { name: 'A', value: '' },
    { name: 'B', value: '' },
    { name: null, value: 'c' },
  ]);
});

test('an entry of env without a value is empty', () => {
  const { workflow } = load(`env:\n  A:\n${steps}`);
  expect(workflow?.env).toEqual([{ name: 'A', value: '' }]);
});

test('a parameter that is a list is reported: it must be text', () => {
  const { diagnostics } = load(`params:\n  A: [1]\n${steps}`);
  expect(diagnostics.map(({ message, label }) => [message, label])).toEqual([
    ['"A" in "params" must be text, not a list', 'expected text'],
  ]);
});
