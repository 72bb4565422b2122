import { describe, expect, test } from 'vitest';
import { evolve } from '#core/run/evolve.ts';
import type { RunState } from '#core/run/run-state.ts';
import { steps } from '#core/run/run-state.ts';
import type { Step } from '#core/workflow.ts';
import { DrivenRun } from '../support/driven-run.ts';
import { step } from '../support/workflow.ts';

/** Steps that an input changed. */
function changed(before: RunState, after: RunState): readonly string[] {
  const old = [...steps(before)];
  return [...steps(after)].flatMap((state, number) => (state === old[number] ? [] : [state.name]));
}

/** Runs everything to its end, breadth first, and returns the number of inputs needed. */
function runThrough(run: DrivenRun): number {
  let inputs = 1;
  const events = [...run.start()];
  for (const event of events) {
    if (event.type !== 'step.scheduled') continue;
    events.push(...run.begin(event.step), ...run.succeed(event.step));
    inputs += 2;
  }
  return inputs;
}

const chain = (length: number): readonly Step[] =>
  Array.from({ length }, (_, number) => step(`s${number}`, { depends: number === 0 ? [] : [`s${number - 1}`] }));

const fan = (width: number): readonly Step[] => {
  const leaves = Array.from({ length: width }, (_, number) => step(`leaf${number}`, { depends: ['top'] }));
  return [step('top'), ...leaves, step('join', { depends: leaves.map(({ name }) => name) })];
};

const layers = (count: number, width: number): readonly Step[] =>
  Array.from({ length: count * width }, (_, number) => {
    const layer = Math.floor(number / width);
    const above = [number % width, (number + 1) % width].map((column) => `s${(layer - 1) * width + column}`);
    return step(`s${number}`, { depends: layer === 0 ? [] : above });
  });

describe('large workflows run to their end', () => {
  test.each([
    ['a chain of 1,000', chain(1000), 0],
    ['a chain of 10,000', chain(10_000), 0],
    ['a fan of 5,000 and its join', fan(5000), 0],
    ['a fan of 5,000, two at a time', fan(5000), 2],
    ['100 layers of 100 with two dependencies each', layers(100, 100), 10],
  ])('%s', (_, steps, maxActiveSteps) => {
    const run = new DrivenRun({ steps, maxActiveSteps });
    expect(runThrough(run)).toBe(1 + 2 * steps.length);
    expect(run.ending).toEqual(['succeeded', null]);
    expect(run.state.counts.succeeded).toBe(steps.length);
  });

  test('a failure at the top of a long chain settles all of it with one input', () => {
    const run = DrivenRun.started({ steps: chain(10_000) });
    expect(run.fail('s0')).toHaveLength(10_001);
    expect(run.step('s9999')).toMatchObject({ status: 'upstream_failed', message: '"s0" failed' });
  });
});

describe('the cost of an input depends on what it changes, not on the size of the workflow', () => {
  test('the end of a step changes that step and its dependents', () => {
    const run = DrivenRun.started({ steps: [...chain(1000), ...layers(10, 100).map((s) => step(`l${s.name}`))] });
    const before = run.state;
    run.succeed('s0');
    expect(changed(before, run.state)).toEqual(['s0', 's1']);
  });

  test('unchanged parts are shared with the previous state', () => {
    const run = DrivenRun.started({ steps: chain(1000) });
    const before = run.state;
    run.begin('s0');
    const shared = run.state.nodes.chunks.filter((chunk, number) => chunk === before.nodes.chunks[number]);
    expect(shared).toHaveLength(before.nodes.chunks.length - 1);
  });
});

test('old states stay valid: later inputs do not change them', () => {
  const run = DrivenRun.started({ steps: fan(100), maxActiveSteps: 3 });
  const old = run.state;
  const copy = structuredClone(old);
  const count = run.events.length;
  run.succeed('top', 'leaf0', 'leaf1');
  run.cancel();
  expect(structuredClone(old)).toEqual(copy);
  expect(run.events.slice(count).reduce(evolve, old)).toEqual(run.state);
});
