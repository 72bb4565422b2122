import { expect, test } from 'vitest';
import { type PlanView, renderPlan } from '../../src/render/plan.ts';
import { expectGolden } from './support/golden.ts';

const plan: PlanView = {
  workflow: 'nightly-etl',
  params: [
    { name: 'env', value: 'prod' },
    { name: null, value: 'two words' },
  ],
  env: { BUCKET: 's3://data', NOTE: 'first\nsecond' },
  waves: [['extract', 'validate everything'], ['load']],
  steps: [
    { name: 'extract', depends: [], executor: 'command', command: 'python extract.py', dir: '/project' },
    {
      name: 'validate everything',
      depends: [],
      executor: 'command',
      command: 'bash (script of 3 lines)',
      dir: '/project/v',
    },
    {
      name: 'load',
      depends: ['extract', 'validate everything'],
      executor: 'http',
      command: 'POST http://host/',
      dir: '/project',
    },
  ],
};

test.each([
  ['plan', false],
  ['plan-color', true],
])('a plan reads as in goldens/%s.txt', (golden, color) => {
  expectGolden(golden, renderPlan(plan, { color }));
});

test('a plan of nothing but a step has no empty sections', () => {
  const step = { name: 'only', depends: [], executor: 'command', command: 'true', dir: '/' };
  const only: PlanView = { workflow: 'one', params: [], env: {}, waves: [['only']], steps: [step] };
  expect(renderPlan(only, { color: false })).toBe('one: 1 step in 1 wave\ndir: /\n\nwave 1\n  only  true\n');
});

test('nothing that is planned can write on the terminal', () => {
  const nasty = '\u001b[2J';
  const step = { name: nasty, depends: [], executor: 'command', command: nasty, dir: nasty };
  const text = renderPlan(
    { workflow: nasty, params: [{ name: null, value: nasty }], env: { A: nasty }, waves: [[nasty]], steps: [step] },
    { color: false },
  );
  expect(text).not.toContain('\u001b');
});
