import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EngineFit, Plan } from '#core/plan.ts';
import { problemsWith } from '../../docs/json-schemas.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, startTemporal, type TemporalServer } from '../../support/temporal.ts';
import { wf } from '../../support/wf.ts';

const away = 'temporal://127.0.0.1:1';

const files = {
  'render.yaml': `
type: chain
queue: db
maxConcurrent: 2
params: REGION=eu
env: [{ZONE: "z-$REGION"}, {HOST: "\`hostname\`"}, {PASSWORD: hidden}]
secrets: [PASSWORD]
steps:
  - {name: render, command: echo, workerSelector: {gpu: "true", region: $REGION}}
  - {name: again, command: echo, workerSelector: {region: $REGION, gpu: "true"}}
  - {name: zoned, command: echo, workerSelector: {zone: $ZONE}}
  - {name: hosted, command: echo, workerSelector: {host: $HOST}}
  - {name: hidden, command: echo, workerSelector: {key: $PASSWORD}}
  - {name: child, run: child}
---
name: child
steps: [{name: built, command: echo, workerSelector: {os: linux}}]
`,
  'refused.yaml': `
type: chain
params: NAME
infoMail: {attach: a}
steps:
  - {name: up, dir: /tmp, command: sleep 9}
  - {name: keeps, command: echo, artifacts: out.txt}
  - {name: any, run: $CHOSEN}
  - {name: chooses, command: echo b, output: CHOSEN}
`,
  'child-refused.yaml': `
steps: [{name: child, run: child}]
---
name: child
steps: [{name: cached, command: echo, sources: a.txt}]
`,
  'served.yaml': `
steps:
  - {name: api, service: {}, command: sleep 9, workerSelector: {gpu: "true"}}
  - {name: test, command: echo, workerSelector: {region: eu}, depends: api}
`,
  'torn.yaml': `
container: {image: alpine}
steps:
  - {name: one, command: echo, workerSelector: {region: eu}}
  - {name: two, command: echo, workerSelector: {region: us}}
`,
  'plain.yaml': 'steps: [{name: a, command: echo}]\n',
};

describeWith('temporal', hasTemporal, 'wf dry and wf validate with an engine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  let server: TemporalServer;

  beforeAll(async () => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    server = await startTemporal(directory);
    await server.worker('plain');
    await server.worker('labeled', { args: ['--labels', 'gpu=true,region=eu'] });
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function call(words: readonly string[], engine = server.url) {
    const env = { HOME: directory, WF_HOME: join(directory, 'home') };
    return wf([...words, '--engine', engine], { cwd: directory, env });
  }

  async function dry(...words: readonly string[]): Promise<{ readonly code: number; readonly engine: EngineFit }> {
    const { code, stdout } = await call(['dry', '--json', ...words]);
    const plan: Plan = JSON.parse(stdout);
    expect(problemsWith('plan.json', plan)).toEqual([]);
    if (plan.engine === undefined) throw new Error('the plan is without an engine');
    return { code: code ?? -1, engine: plan.engine };
  }

  it('name the workers that a run and its child runs need, and those that are connected', async () => {
    const { code, engine } = await dry('render.yaml');
    const workers = (labels: string, steps: readonly string[], connected: readonly string[] | null) => {
      return { labels, steps, connected };
    };
    expect({ code, engine }).toEqual({
      code: 0,
      engine: {
        url: server.url,
        refusals: [],
        workers: [
          workers('', [], ['labeled', 'plain']),
          workers('gpu=true,region=eu', ['render', 'again'], ['labeled']),
          workers('zone=z-eu', ['zoned'], []),
          workers('host=`hostname`', ['hosted'], null),
          workers('key=$PASSWORD', ['hidden'], null),
          workers('os=linux', ['child: built'], []),
        ],
        queues: ['render (maxConcurrent)', 'db'],
        problem: null,
      },
    });
    const given = await dry('render.yaml', '-p', 'REGION=us');
    expect(given.engine.workers[1]).toEqual(workers('gpu=true,region=us', ['render', 'again'], []));
    const { stdout } = await call(['dry', 'render.yaml']);
    expect(stdout.split('\n').filter((line) => line.startsWith('engine: '))).toEqual([
      `engine: ${server.url}`,
      'engine: any worker: labeled, plain',
      'engine: workers with gpu=true,region=eu for "render", "again": labeled',
      'engine: workers with zone=z-eu for "zoned": none is connected',
      'engine: workers with host=`hostname` for "hosted": known when the run starts',
      'engine: workers with key=$PASSWORD for "hidden": known when the run starts',
      'engine: workers with os=linux for "child: built": none is connected',
      'engine: waits for a slot of queue "render (maxConcurrent)"',
      'engine: waits for a slot of queue "db"',
    ]);
  });

  it('name what the engine does not support, and run refuses it too', async () => {
    const { code, engine } = await dry('refused.yaml');
    expect({ code, refused: engine.refusals.map(({ step, message }) => [step, message]) }).toEqual({
      code: 2,
      refused: [
        [null, 'the engine does not support "infoMail.attach"'],
        ['up', 'the engine does not support "dir" of step "up"'],
        ['keeps', 'the engine does not support "artifacts" of step "keeps"'],
        [null, 'step "any" runs "$CHOSEN", and an engine reads workflows before the run, which sets "$CHOSEN"'],
      ],
    });
    const child = await dry('child-refused.yaml');
    expect(child.engine.refusals.map(({ message }) => message)).toEqual([
      'the engine does not support "sources" of step "cached" of workflow "child"',
    ]);
    for (const file of ['refused.yaml', 'child-refused.yaml']) {
      const { code, stderr } = await call(['run', file]);
      expect({ code, isRefused: stderr.includes('error: ') }).toEqual({ code: 2, isRefused: true });
    }
  });

  it('name one worker for all steps of a run with services, or that there can be none', async () => {
    const { code, engine } = await dry('served.yaml');
    expect([code, engine.refusals, engine.workers[1]]).toEqual([
      0,
      [],
      { labels: 'gpu=true,region=eu', steps: ['api', 'test'], connected: ['labeled'] },
    ]);
    const torn = await dry('torn.yaml');
    const why = 'one worker executes all steps of this run, and cannot have both region=eu and region=us';
    expect([torn.code, torn.engine.refusals.map(({ message }) => message)]).toEqual([2, [`workerSelector: ${why}`]]);
  });

  it('are diagnostics of wf validate, at their steps', async () => {
    const names = ['plain.yaml', 'render.yaml', 'refused.yaml'];
    const { code, stdout } = await call(['validate', '--json', ...names]);
    const printed = JSON.parse(stdout);
    expect(problemsWith('validate.json', printed)).toEqual([]);
    type File = { readonly valid: boolean; readonly diagnostics: readonly Record<string, unknown>[] };
    const found = (printed.files as readonly File[]).map(({ valid, diagnostics }) => [
      valid,
      diagnostics.map(({ severity, code: kind, line }) => [severity, kind, line]),
    ]);
    expect({ code, found }).toEqual({
      code: 2,
      found: [
        [true, []],
        [true, [['warning', 'no-worker', null]]],
        [
          false,
          [
            ['error', 'engine-refusal', null],
            ['error', 'engine-refusal', 6],
            ['error', 'engine-refusal', 7],
            ['error', 'engine-refusal', null],
          ],
        ],
      ],
    });
    const pretty = await call(['validate', ...names]);
    expect(pretty.stdout).toContain('plain.yaml: valid\n');
    expect(pretty.stdout).toContain('  workers with gpu=true,region=eu for "render", "again": labeled\n');
    expect(pretty.stderr).toContain('help: set engineLogs, here and for all workers, to a directory');
  });

  it('warn of an engine that cannot be reached', { timeout: 60_000 }, async () => {
    const validated = await call(['validate', 'plain.yaml'], away);
    expect(validated.code).toBe(0);
    expect(validated.stderr).toContain(`warning: the engine ${away} cannot be reached`);
    const planned = await call(['dry', 'plain.yaml'], away);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain('engine: any worker: not known\n');
  });

  it('say that the connected workers have another key', async () => {
    const key = join(directory, 'engine.key');
    writeFileSync(key, Buffer.alloc(32, 1));
    const { engine } = await dry('plain.yaml', '--engine-key-file', key);
    expect(engine.problem).toContain('do not have the key of this command: ');
  });
});
