import { expect, test } from 'vitest';
import type { Plan } from '#core/plan.ts';
import { renderPlan } from '#render/views/plan-view.ts';
import { expectGolden } from '../support/golden.ts';

const plan: Plan = {
  workflow: 'nightly-etl',
  params: [
    { name: 'env', value: 'prod' },
    { name: null, value: 'two words' },
  ],
  env: { BUCKET: 's3://data', NOTE: 'first\nsecond' },
  dotenv: [],
  unreadDotenv: null,
  waves: [['extract', 'validate everything'], ['load']],
  steps: [
    {
      name: 'extract',
      depends: [],
      executor: 'command',
      command: 'python extract.py',
      dir: '/project',
      attempts: 3,
      policies: [],
      values: {},
      skipped: null,
    },
    {
      name: 'validate everything',
      depends: [],
      executor: 'command',
      command: 'bash',
      script: 'set -e\n  ls "$DIR"\n./validate',
      dir: '/project/v',
      attempts: 1,
      policies: [],
      values: {},
      skipped: '$DAY was "5", expected "7"',
    },
    {
      name: 'load',
      depends: ['extract', 'validate everything'],
      executor: 'http',
      command: 'POST http://host/',
      dir: '/project',
      attempts: 1,
      policies: [],
      values: {},
      skipped: null,
    },
  ],
  handlers: [
    {
      name: 'handlerOn.failure',
      depends: [],
      executor: 'command',
      command: 'notify',
      dir: '/project',
      attempts: 1,
      policies: [],
      values: {},
      skipped: null,
    },
  ],
  skipped: null,
};

test.each([
  ['plan', false],
  ['plan-color', true],
])('a plan is printed as in goldens/%s.txt', (golden, color) => {
  expectGolden(golden, renderPlan(plan, { color }));
});

test('a plan of a single step has no empty sections', () => {
  const step = {
    name: 'only',
    depends: [],
    executor: 'command',
    command: 'true',
    dir: '/',
    attempts: 1,
    policies: [],
    values: {},
    skipped: null,
  };
  const only: Plan = {
    workflow: 'one',
    params: [],
    env: {},
    dotenv: [],
    unreadDotenv: null,
    waves: [['only']],
    steps: [step],
    handlers: [],
    skipped: null,
  };
  expect(renderPlan(only, { color: false })).toBe('one: 1 step in 1 wave\ndir: /\n\nwave 1\n  only  true\n');
});

test('the lines of a command stay, and lines that are too long for a terminal continue in their column', () => {
  const step = {
    name: 'ship',
    depends: [],
    executor: 'command',
    command: 'set -e\n  docker push registry.example.org/app:$TAG',
    values: { TAG: 'a b', 1: 'x' },
    dir: '/',
    attempts: 1,
    policies: ['up to 4 attempts'],
    skipped: null,
  };
  const one: Plan = { ...plan, params: [], env: {}, waves: [['ship']], steps: [step], handlers: [] };
  const terminal = { color: false, isTerminal: true, size: () => ({ columns: 40, rows: 10 }) };
  expect(renderPlan(one, terminal).split('\n').slice(3)).toEqual([
    'wave 1',
    '  ship  set -e',
    '          docker push',
    '        registry.example.org/app:$TAG',
    '        (up to 4 attempts)',
    '          $1=x',
    "          TAG='a b'",
    '',
  ]);
  expect(renderPlan(one, { color: false })).toContain(
    '\n          docker push registry.example.org/app:$TAG  (up to 4 attempts)\n',
  );
});

test('no text in a plan can control the terminal', () => {
  const nasty = '\u001b[2J';
  const step = {
    name: nasty,
    depends: [],
    executor: 'command',
    command: nasty,
    dir: nasty,
    attempts: 1,
    policies: [],
    values: {},
    skipped: nasty,
  };
  const text = renderPlan(
    {
      workflow: nasty,
      params: [{ name: null, value: nasty }],
      env: { A: nasty },
      dotenv: [],
      unreadDotenv: null,
      waves: [[nasty]],
      steps: [step],
      handlers: [],
      skipped: nasty,
    },
    { color: false },
  );
  expect(text).not.toContain('\u001b');
});
