import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LoadRequest, loadWorkflow } from '#language/load.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'x-ignore-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** The codes of what is shown, after those of what is ignored, and whether the workflow can run. */
function load(text: string, checks: Pick<LoadRequest, 'base' | 'isStrict'> = {}) {
  const { workflow, diagnostics, ignored = [] } = loadWorkflow({ text, file: null, dir, environment: [], ...checks });
  const codes = (list: typeof diagnostics) => list.map(({ severity, code }) => `${severity} ${code}`);
  return { shown: codes(diagnostics), ignored: codes(ignored), runs: workflow !== null };
}

const unset = 'type: graph\nsteps: [{name: a, command: echo $NOPE}]\n';
const silent = { shown: [], ignored: ['warning unset-variable'], runs: true };

test('in a handler, the warnings of the handler are ignored', () => {
  const handler = (ignore: string) =>
    `handlerOn: {exit: {command: echo $NOPE${ignore}}}\nsteps: [{name: a, command: x}]`;
  expect(load(handler('')).shown).toEqual(['warning unset-variable']);
  expect(load(handler(', x-ignore: unset-variable'))).toEqual(silent);
  expect(load(handler(', X-Ignore: [unset-variable]'))).toEqual(silent);
});

test('in base.yaml, those of all files are ignored', () => {
  const base = join(dir, 'base.yaml');
  writeFileSync(base, 'x-ignore: unset-variable\n');
  expect(load(unset, { base })).toEqual(silent);
  writeFileSync(base, 'x-ignore: unset-variabel\n');
  expect(load(unset, { base }).shown).toEqual(['warning unset-variable', 'warning wrong-value']);
});

test('in an imported file, those of that file are ignored', () => {
  writeFileSync(join(dir, 'more.yaml'), `x-ignore: unset-variable\n${unset}`.replace('type: graph\n', ''));
  const importing = 'imports: more\ntype: graph\nsteps: [{name: b, command: echo $OTHER}]';
  expect(load(importing)).toEqual({ ...silent, shown: ['warning unset-variable'] });
});

test('an output of no dependency is ignored in a strict check too', () => {
  const steps = (ignore: string) =>
    `type: graph\nsteps: [{name: a, command: x, output: V}, {name: b, command: echo $V${ignore}}]`;
  expect(load(steps(''), { isStrict: true })).toEqual({ shown: ['error unordered-output'], ignored: [], runs: false });
  const ignored = load(steps(', x-ignore: unordered-output'), { isStrict: true });
  expect(ignored).toEqual({ shown: [], ignored: ['warning unordered-output'], runs: true });
});

test('a step is left out of a warning about several steps', () => {
  const three = (ignore: string) =>
    `steps: [{name: a, command: x}, {name: b, command: x}, {name: c, command: x, x-ignore: ${ignore}}]`;
  expect(load(three('unordered-steps')).shown).toEqual(['warning unordered-steps']);
  const two = 'steps: [{name: a, command: x}, {name: b, command: x, x-ignore: unordered-steps}]';
  expect(load(two)).toEqual({ shown: [], ignored: ['warning unordered-steps'], runs: true });
  const lines = (ignore: string) => `{script: "make\\nmake", ${ignore}`;
  const script = `type: chain\nsteps: [${lines('x-ignore: unchecked-lines, name: a}')}, ${lines('name: b}')}]`;
  expect(load(script).shown).toEqual(['warning unchecked-lines']);
});

test('an error of a file stays', () => {
  const text = 'x-ignore: missing-dependency\nsteps: [{name: a, command: x, depends: b}]';
  expect(load(text)).toEqual({ shown: ['error missing-dependency'], ignored: [], runs: false });
});

test.each(['defaults: {x-ignore: a}', 'functions: [{name: f, command: x, X-ignore: a}]'])(
  'where it has no effect it is an error: %s',
  (text) => {
    expect(load(`${text}\nsteps: [{name: a, command: x}]`).shown).toEqual(['error unknown-key']);
  },
);
