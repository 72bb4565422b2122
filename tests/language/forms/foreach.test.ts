import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { codesOf, workflowOf } from '../load-text.ts';

const loop = (body: string, rest = '') =>
  `${rest}steps:\n  - {id: list, run: "echo a", outputs: [{name: x}]}\n  - {id: find, run: echo a, output: FOUND}\n  - id: each\n    depends: [list, find]\n    foreach: ${body}\n`;

const commandsOf = (text: string, name = 'foreach.each') =>
  workflowOf(text).documents?.[name]?.steps.map(({ command }) => command);

describe('a step with foreach', () => {
  it('runs a workflow of its steps for each item', () => {
    const text = loop('{items: [1, {a: b}], max_concurrent: 2, steps: [{id: s, run: "echo ${foreach.item.a}"}]}');
    expect(workflowOf(text).steps[2]).toMatchObject({
      depends: ['list', 'find'],
      executor: { type: 'workflow', config: { run: 'foreach.each' } },
      fanOut: { maxConcurrent: 2 },
    });
    expect(commandsOf(text)).toEqual(['echo ${foreach_item.a}']);
  });

  it('passes what its steps use, and nothing else', () => {
    const text = loop(
      '{items: $FOUND, as: f, key: "${foreach.f.id}", steps: [{id: s, run: "echo ${params.P} ${steps.list.outputs.x} $FOUND ${foreach.key}"}]}',
      'params: [{P: 1}, {Q: 2}]\nenv: [{E: "$Q"}]\n',
    );
    const { executor } = workflowOf(text).steps[2] ?? {};
    expect(executor?.config).toEqual({
      run: 'foreach.each',
      params:
        'foreach_f=${ITEM} foreach_index=${WF_ITEM_INDEX} foreach_key=${ITEM.id} list_outputs_x=${list.outputs.x} P=${P} FOUND=${FOUND} Q=${Q}',
    });
    expect(commandsOf(text)).toEqual(['echo ${P} ${list_outputs_x} $FOUND ${foreach_key}']);
    expect(workflowOf(text).documents?.['foreach.each']?.env).toEqual([{ name: 'E', value: '$Q' }]);
  });

  it('keeps secrets and the names of its own steps', () => {
    const text = loop(
      '{items: [a], steps: [{id: list, run: "echo $S", output: FOUND}, {id: t, depends: list, run: "echo $FOUND ${list.stdout}"}]}',
      'params: [{name: S, secret: true}]\n',
    );
    const child = workflowOf(text).documents?.['foreach.each'];
    expect(child?.params.map(({ name }) => name)).not.toContain('FOUND');
    expect(child?.secrets.map(({ name }) => name)).toEqual(['S']);
    expect(child?.steps[1]?.command).toBe('echo $FOUND ${list.stdout}');
  });

  it('may contain another one, whose names hide those around it', () => {
    const text = loop(
      '{items: [a], as: outer, steps: [{id: in, foreach: {items: "${foreach.outer.list}", steps: [{id: s, run: "echo ${foreach.item} ${foreach.outer} ${foreach.index}"}]}}]}',
    );
    expect(Object.keys(workflowOf(text).documents ?? {})).toEqual(['foreach.each', 'foreach.each.foreach.in']);
    expect(commandsOf(text, 'foreach.each.foreach.in')).toEqual([
      'echo ${foreach_item} ${foreach_outer} ${foreach_index}',
    ]);
    const same = loop(
      '{items: [a], steps: [{id: in, foreach: {items: "${foreach.item}", steps: [{run: "echo ${foreach.item}"}]}}]}',
    );
    expect(workflowOf(same).documents?.['foreach.each']?.steps[0]?.fanOut).toMatchObject({ items: '${foreach_item}' });
  });

  it('collects values in a last step', () => {
    const text = loop(
      '{items: [], steps: [{id: s, run: echo a, outputs: [{name: y}]}], collect: {z: "${steps.s.outputs.y}"}}',
    );
    expect(workflowOf(text).documents?.['foreach.each']?.steps[1]).toMatchObject({
      name: 'collect',
      depends: ['s'],
      published: [{ key: 'z', value: { from: 'text', text: '${s.outputs.y}' } }],
    });
  });

  it('is named for the document that it is in', () => {
    const text = `steps: [{id: a, action: dag.run, with: {dag: two}}]\n---\nname: two\n${loop('{items: [1], steps: [{run: echo a}]}')}`;
    expect(Object.keys(workflowOf(text).documents ?? {})).toEqual(['two', 'two.foreach.each']);
  });

  it.each([
    ['[1]', 'wrong-value'],
    ['{steps: [{run: echo a}]}', 'wrong-value'],
    ['{items: [1]}', 'wrong-value'],
    ['{items: [1], steps: []}', 'wrong-value'],
    ['{items: [1], as: index, steps: [{run: echo a}]}', 'wrong-value'],
    ['{items: [1], steps: [{run: "echo ${foreach.other}"}]}', 'wrong-value'],
    ['{items: [1], until: x, steps: [{run: echo a}]}', 'unknown-key'],
    ['{items: [1], steps: [{run: echo a}], collect: {a: b}}', 'missing-key'],
    ['{items: [1], steps: [{id: s, depends: list, run: echo a}]}', 'missing-dependency'],
    ['{items: [1], max_concurrent: 0, steps: [{run: echo a}]}', 'wrong-value'],
    ['{items: [1], steps: [{run: echo a}]}\n    run: echo b', 'conflicting-keys'],
  ])('%s: %s', (body, code) => {
    expect(codesOf(loop(body))).toContain(code);
  });

  it('needs a name, since its runs are named for it', () => {
    expect(codesOf('steps: [{foreach: {items: [1], steps: [{run: echo a}]}}]')).toEqual(['wrong-value']);
  });
});

describe('an action of the file', () => {
  const actions = `actions:
  say:
    input_schema: {type: object, additionalProperties: false, required: [text], properties: {text: {type: string}, times: {type: integer, default: 2}}}
    template: {run: "echo {{ .input.times }} {{ json .input.text }}", timeout_sec: 5}
  put:
    input_schema: {type: object}
    template:
      action: file.write
      with: {path: {{ .input.path }}, content: "{{ .input.text }}", overwrite: "{{ .input.force }}"}
  twice: {input_schema: {type: object}, template: {action: say, with: {text: "{{ .input.t }}!", times: "{{ .input.n }}"}}}
  self: {input_schema: {type: object}, template: {action: self}}
`;
  const stepOf = (step: string) => workflowOf(`${actions}steps: [${step}]`).steps[0];

  it('is the step of its template, with the input', () => {
    expect(stepOf('{id: a, action: say, with: {text: "it is"}}')).toMatchObject({
      command: 'echo 2 "it is"',
      timeoutMs: 5000,
    });
    expect(stepOf('{id: a, action: say, with: {text: x}, timeout_sec: 1}')).toMatchObject({ timeoutMs: 1000 });
    expect(stepOf('{id: a, action: twice, with: {t: x, n: 3}}')?.command).toBe('echo 3 "x!"');
    expect(stepOf('{id: a, action: put, with: {path: /p, text: t, force: true}}')?.args).toEqual(['/p', 't', '0600']);
  });

  it('gets variables as variables, whatever their type', () => {
    expect(stepOf('{id: a, action: say, with: {text: "${params.T}", times: "${params.N}"}}')?.command).toBe(
      'echo ${N} "${T}"',
    );
  });

  it.each([
    ['{id: a, action: say}', 'wrong-value'],
    ['{id: a, action: say, with: {text: x, times: many}}', 'wrong-value'],
    ['{id: a, action: say, with: {text: x, other: y}}', 'wrong-value'],
    ['{id: a, action: self}', 'wrong-value'],
    ['{id: a, action: sya}', 'unknown-action'],
  ])('refuses %s: %s', (step, code) => {
    expect(codesOf(`${actions}steps: [${step}]`)).toEqual([code]);
  });

  it.each([
    ['{a: {template: {run: echo a}}}', 'missing-key'],
    ['{a: {input_schema: {type: object}}}', 'missing-key'],
    ['{a: {input_schema: {type: object}, template: {run: echo a, action: noop}}}', 'missing-key'],
    ['{a: {input_schema: {type: 5}, template: {run: echo a}}}', 'missing-key'],
    ['{a: {input_schema: {type: object}, template: {run: echo a}, type: b}}', 'unknown-key'],
    ['{"a b": {input_schema: {type: object}, template: {run: echo a}}}', 'invalid-name'],
    ['[a]', 'wrong-type'],
  ])('is defined with its input and its template: %s', (definition, code) => {
    expect(codesOf(`actions: ${definition}\nsteps: [{run: echo a}]`)).toContain(code);
  });

  it('has only expressions of its input', () => {
    const text =
      'actions: {a: {input_schema: {type: object}, template: {run: "echo {{ .input.b | upper }}"}}}\nsteps: [{action: a}]';
    const { diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
    expect(diagnostics.map(({ code, help }) => [code, help])).toEqual([
      ['not-supported', 'Known are {{ .input.name }} and {{ json .input.name }}.'],
    ]);
  });
});
