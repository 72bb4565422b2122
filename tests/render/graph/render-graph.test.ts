import { describe, expect, test } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import type { Workflow } from '#core/workflow.ts';
import { layOutLanes, renderGraph } from '#render/graph/render-graph.ts';
import { textWidth } from '#render/text/width.ts';
import fc from '../../support/fast-check.ts';
import { handler, step, workflow } from '../../support/workflow.ts';
import { expectGolden } from '../support/golden.ts';

/** A workflow from the names of steps and their dependencies. */
function graphOf(dependencies: Readonly<Record<string, string>>): Workflow {
  const names = (text: string) => text.split(' ').filter((name) => name !== '');
  return workflow({
    steps: Object.entries(dependencies).map(([name, depends]) => step(name, { depends: names(depends) })),
  });
}

function drawn(shape: Workflow, unicode = true): readonly string[] {
  return renderGraph(shape, 'ascii', { unicode }).trimEnd().split('\n');
}

const fan = Object.fromEntries(['b', 'c', 'd', 'e'].map((name) => [name, 'a']));

test.each<[string, Record<string, string>, string[]]>([
  ['a single step', { a: '' }, ['● a']],
  ['a chain', { a: '', b: 'a', c: 'b' }, ['● a', '● b', '● c']],
  ['steps without any tie', { a: '', b: '' }, ['● a', '', '● b']],
  ['a fan out', { a: '', ...fan }, ['● a', '├─● b', '├─● c', '├─● d', '● e']],
  [
    'a fan out and in',
    { a: '', ...fan, end: 'b c d e' },
    ['● a', '├─● b', '├─│─● c', '├─│─│─● d', '● │ │ │ e', '●─┴─┴─╯ end  ← b, c, d, e'],
  ],
  ['a diamond', { a: '', b: 'a', c: 'a', d: 'b c' }, ['● a', '├─● b', '● │ c', '●─╯ d  ← b, c']],
  ['a fan in', { a: '', b: '', c: 'a b' }, ['● a', '│ ● b', '●─╯ c  ← a, b']],
  ['chains side by side', { a: '', x: '', b: 'a', y: 'x' }, ['● a', '● b', '', '● x', '● y']],
  [
    'a step on several levels',
    { a: '', b: 'a', c: 'a b', d: 'a c' },
    ['● a', '├─● b', '├─● c  ← a, b', '●─╯ d  ← a, c'],
  ],
  ['a file that names what comes last first', { c: 'b', b: 'a', a: '' }, ['● a', '● b', '● c']],
])('%s is drawn', (_what, shape, expected) => {
  expect(drawn(graphOf(shape))).toEqual(expected);
});

test('without UTF-8 the graph is drawn in ASCII', () => {
  const text = renderGraph(graphOf({ a: '', ...fan, f: 'b c', end: 'd e f' }), 'ascii', { unicode: false });
  expectGolden('graph-ascii', text);
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
});

test('layers that all depend on each other are drawn as in goldens/graph-layers.txt', () => {
  const layers = { a1: '', a2: '', b1: 'a1 a2', b2: 'a1 a2', b3: 'a2', c1: 'b1 b3', c2: 'b2 b3', end: 'c1 c2' };
  expectGolden('graph-layers', renderGraph(graphOf(layers), 'ascii', { unicode: true }));
});

test('a graph that is too wide is listed as text, as in goldens/graph-wide.txt', () => {
  const middle = Array.from({ length: 30 }, (_, index) => `shard-${index}`);
  const shape = graphOf({
    split: '',
    ...Object.fromEntries(middle.map((name) => [name, 'split'])),
    join: middle.join(' '),
  });
  expectGolden('graph-wide', renderGraph(shape, 'ascii', { unicode: true }));
});

test('a fan of ten thousand steps is listed without being drawn first', () => {
  const middle = Array.from({ length: 10_000 }, (_, index) => step(`s${index}`, { depends: ['split'] }));
  const join = step('join', { depends: middle.map(({ name }) => name) });
  const shape = workflow({ steps: [step('split'), ...middle, join] });
  expect(layOutLanes(buildGraph(shape), 16)).toBeNull();
  expect(drawn(shape)).toHaveLength(10_005);
});

/** Names with special characters, and a handler. */
const odd = workflow({
  name: 'a "b" \\ & c',
  steps: [
    step('say "hi" & <go>'),
    step('100% #1; `x` [y] {z} | (w)', { depends: ['say "hi" & <go>'] }),
    step('日本 👍\nnext\u001b[2J', { depends: ['say "hi" & <go>'] }),
    step('back\\slash \\N', { depends: ['日本 👍\nnext\u001b[2J', '100% #1; `x` [y] {z} | (w)'] }),
  ],
  handlers: { exit: handler('exit', { command: 'rm -rf "$TMP"' }), failure: handler('failure', { command: 'notify' }) },
});

test.each(['ascii', 'mermaid', 'dot', 'json'] as const)(
  'any name is valid in %s, as in goldens/graph-odd-*.txt',
  (format) => {
    expectGolden(`graph-odd-${format}`, renderGraph(odd, format, { unicode: true }));
  },
);

test('json contains all nodes and edges', () => {
  const shape = workflow({ steps: [step('a'), step('b', { depends: ['a'] })], handlers: { exit: handler('exit') } });
  expect(JSON.parse(renderGraph(shape, 'json', { unicode: true }))).toEqual({
    nodes: [
      { name: 'a', handler: null, executor: 'command' },
      { name: 'b', handler: null, executor: 'command' },
      { name: 'handlerOn.exit', handler: 'exit', executor: 'command' },
    ],
    edges: [{ from: 'a', to: 'b' }],
  });
});

describe('for any graph', () => {
  /** Up to 25 steps, each depending on some of those before it, listed in any order. */
  const shapes = fc
    .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 25 })
    .map((steps) => steps.map((picks, index) => [...new Set(index === 0 ? [] : picks.map((pick) => pick % index))]))
    .map((steps) =>
      steps.map((depends, index) => step(`s${index}`, { depends: depends.map((number) => `s${number}`) })),
    )
    .chain((steps) =>
      fc.shuffledSubarray(steps, { minLength: steps.length }).map((shuffled) => workflow({ steps: shuffled })),
    );

  test('each step has one row, below all of its dependencies', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const graph = buildGraph(shape);
        const order = (layOutLanes(graph, 100) ?? []).map((row) => row.node);
        expect([...order].sort((a, b) => a - b)).toEqual(graph.nodes.map((_, number) => number));
        order.forEach((node, row) => {
          for (const needed of graph.dependencies[node] ?? []) expect(order.indexOf(needed)).toBeLessThan(row);
        });
      }),
    );
  });

  test('each edge arrives in the lane of its step, and a lane ends with its last edge', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const graph = buildGraph(shape);
        const owners: (number | null)[] = [];
        const left = graph.dependents.map((numbers) => numbers.length);
        for (const { node, column, lanes } of layOutLanes(graph, 100) ?? []) {
          const arriving = lanes.flatMap((lane, at) => (lane === 'through' || lane === 'end' ? [owners[at]] : []));
          expect(new Set(arriving)).toEqual(new Set(graph.dependencies[node]));
          for (const needed of graph.dependencies[node] ?? []) left[needed] = (left[needed] ?? 0) - 1;
          lanes.forEach((lane, at) => {
            expect(lane === 'free').toBe((owners[at] ?? null) === null);
            if (lane === 'end') {
              expect(left[owners[at] ?? -1]).toBe(0);
              owners[at] = null;
            }
          });
          expect(owners[column] ?? null).toBeNull();
          owners[column] = left[node] ? node : null;
        }
      }),
    );
  });

  test('no line is wider than 80 columns', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        for (const line of drawn(shape)) expect(textWidth(line)).toBeLessThanOrEqual(80);
      }),
    );
  });
});
