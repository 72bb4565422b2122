import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wf, withDirectory } from '../support/wf.ts';

const text = `
params: ZONE=eu
steps:
  - {name: a, command: echo a, workerSelector: {zone: $ZONE, gpu: true}}
  - {name: b, command: echo b}
  - {name: c, command: echo c, workerSelector: local}
`;

test('a run without an engine ignores selectors, with one warning', () =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), text);
    const { code, stdout } = await wf(['run', 'w.yaml', '--reporter', 'plain'], { cwd });
    expect(code).toBe(0);
    const warned = stdout.match(/WARN .*/g);
    expect(warned).toEqual(['WARN   workerSelector has no effect without an engine: all steps run on this machine']);
    writeFileSync(join(cwd, 'other.yaml'), 'workerSelector: local\nsteps: [{name: a, command: echo}]\n');
    const other = await wf(['run', 'other.yaml', '--reporter', 'plain', '--strict-selectors'], { cwd });
    expect({ code: other.code, warns: other.stdout.includes('workerSelector') }).toEqual({ code: 0, warns: false });
  }));

test.each([
  ['an option', ['--strict-selectors'], {}],
  ['a variable', [], { WF_STRICT_SELECTORS: 'true' }],
])('a run without an engine refuses selectors by %s', (_, options, env) =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), text);
    const { code, stdout } = await wf(['run', 'w.yaml', '--reporter', 'plain', ...options], { cwd, env });
    expect({ code, started: stdout.includes('START') }).toEqual({ code: 1, started: false });
    expect(stdout).toContain('"a" needs a worker with gpu=true,zone=$ZONE, and there is no engine');
  }),
);

test('a run in the background refuses selectors by the option', () =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), text);
    const { stdout } = await wf(['run', 'w.yaml', '--detach', '--strict-selectors'], { cwd });
    const logs = await wf(['logs', '-f', stdout.trim()], { cwd });
    expect(logs.stdout).toBe('');
    expect((await wf(['status', stdout.trim()], { cwd })).stdout).toContain('and there is no engine');
  }));

test('a plan and a drawing show what steps need', () =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), text);
    const dry = await wf(['dry', 'w.yaml', '-p', 'ZONE=us'], { cwd });
    expect(dry.stdout.match(/\(needs a worker .*\)/g)).toEqual(['(needs a worker with gpu=true,zone=us)']);
    expect((await wf(['graph', 'w.yaml'], { cwd })).stdout).toContain('a (worker gpu=true,zone=$ZONE)');
    const { nodes } = JSON.parse((await wf(['graph', 'w.yaml', '--json'], { cwd })).stdout);
    expect(nodes.map(({ workerSelector }: { workerSelector: unknown }) => workerSelector)).toEqual([
      { zone: '$ZONE', gpu: 'true' },
      undefined,
      undefined,
    ]);
  }));
