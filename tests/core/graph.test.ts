import { describe, expect, test } from 'vitest';
import { buildGraph, isStep, nodeAt, nodeIndex } from '#core/graph.ts';
import { handler, step, workflow } from '../support/workflow.ts';

const diamond = workflow({
  steps: [
    step('join', { depends: ['left', 'right'] }),
    step('top'),
    step('left', { depends: ['top'] }),
    step('right', { depends: ['top'] }),
  ],
  handlers: { exit: handler('exit'), failure: handler('failure') },
});

describe('buildGraph', () => {
  test('numbers the steps in file order, then the handlers, with edges in both directions', () => {
    const graph = buildGraph(diamond);
    expect(graph.nodes.map(({ name }) => name)).toEqual([
      'join',
      'top',
      'left',
      'right',
      'handlerOn.failure',
      'handlerOn.exit',
    ]);
    expect(graph.stepCount).toBe(4);
    expect(graph.dependencies).toEqual([[2, 3], [], [1], [1], [], []]);
    expect(graph.dependents).toEqual([[], [2, 3], [0], [0], [], []]);
    expect([...graph.index]).toEqual([
      ['join', 0],
      ['top', 1],
      ['left', 2],
      ['right', 3],
      ['handlerOn.failure', 4],
      ['handlerOn.exit', 5],
    ]);
  });

  test('refuses a dependency that does not exist', () => {
    expect(() => buildGraph(workflow({ steps: [step('a', { depends: ['b'] })] }))).toThrow(
      'The workflow has no step "b".',
    );
  });
});

test('nodes are found by name and by number', () => {
  const graph = buildGraph(diamond);
  expect(nodeIndex(graph, 'right')).toBe(3);
  expect(nodeAt(graph, 3).name).toBe('right');
  expect(() => nodeIndex(graph, 'missing')).toThrow('The workflow has no step "missing".');
  expect(() => nodeAt(graph, 6)).toThrow('The workflow has no node 6.');
});

test('a handler is a node but not a step', () => {
  const graph = buildGraph(diamond);
  expect(isStep(graph, 'top')).toBe(true);
  expect(isStep(graph, 'handlerOn.exit')).toBe(false);
  expect(isStep(graph, 'missing')).toBe(false);
});
