import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, temporalWorld } from '../../support/temporal.ts';

describeWith('temporal', hasTemporal, 'labels of workers', () => {
  const world = temporalWorld(async (server) => {
    await server.worker('plain', { args: ['--slots', '8'] });
    await server.worker('gpu', {
      args: ['--slots', '2', '--labels', 'gpu=true,os=linux', '--serve', 'arch=arm64,os=any'],
    });
  });

  /** A directory with a workflow, and the commands there. */
  function place(text: string) {
    const { cwd, call, start } = world.place({ 'work.yaml': text });
    const args = ['run', 'work.yaml', '--engine', world.server.url, '--reporter', 'plain'];
    return {
      cwd,
      call,
      run: (...more: readonly string[]) => call(...args, ...more),
      start: () => start(...args),
      workers: async (): Promise<Record<string, string | undefined>> => {
        const { stdout } = await call('status', '--json', '@latest');
        const { steps, handlers } = JSON.parse(stdout);
        type Shown = { readonly name: string; readonly worker?: string; readonly items?: readonly Shown[] };
        const all = ([...steps, ...handlers] as Shown[]).flatMap((step) => step.items ?? [step]);
        return Object.fromEntries(all.map(({ name, worker }) => [name, worker]));
      },
    };
  }

  it('bring each step to a worker that has them', async () => {
    const { run, workers } = place(`
type: graph
params: KIND=true
workerSelector: {os: linux}
steps:
  - {name: of-the-file, command: 'test "$WORKER" = gpu'}
  - {name: both, command: 'test "$WORKER" = gpu', workerSelector: {os: linux, gpu: $KIND}}
  - {name: served, command: 'test "$WORKER" = gpu', worker_selector: {os: any, arch: arm64}}
  - {name: each, command: 'test "$WORKER" = gpu', parallel: [a, b], workerSelector: {gpu: true}}
  - {name: any, command: 'true', workerSelector: local}
handlerOn:
  exit: {command: 'test "$WORKER" = gpu', workerSelector: {gpu: "true"}}
`);
    const { code, stdout } = await run();
    expect({ code, warns: stdout.includes('workerSelector has no effect') }).toEqual({ code: 0, warns: false });
    expect(await workers()).toEqual({
      'of-the-file': 'gpu',
      both: 'gpu',
      served: 'gpu',
      'each[a]': 'gpu',
      'each[b]': 'gpu',
      any: expect.stringMatching(/^(plain|gpu)$/),
      'handlerOn.exit': 'gpu',
    });
  });

  it('share the slots of a worker over all its queues', async () => {
    const log = join(world.directory, 'slots.log');
    const script = `echo + >> ${log}; sleep 0.3; echo - >> ${log}`;
    const step = (name: string, selector: string) =>
      `  - {name: ${name}, script: '${script}', parallel: [1, 2, 3, 4], workerSelector: {${selector}}}`;
    const { run } = place(
      ['type: graph', 'steps:', step('a', 'gpu: true'), step('b', 'os: linux'), step('c', 'os: linux, gpu: true')].join(
        '\n',
      ),
    );
    expect((await run()).code).toBe(0);
    const signs = readFileSync(log, 'utf8').trim().split('\n');
    expect(signs.filter((sign) => sign === '+')).toHaveLength(12);
    let running = 0;
    const most = Math.max(...signs.map((sign) => (running += sign === '+' ? 1 : -1)));
    expect(most).toBeLessThanOrEqual(2);
  });

  it('are refused in a run with a value that is a secret, or empty', async () => {
    const secret = place(`
env: [{TOKEN: "\`echo hidden-value\`"}]
secrets: [TOKEN]
steps: [{name: a, command: echo, workerSelector: {zone: $TOKEN}}]
`);
    const { code, stdout } = await secret.run();
    expect(code).toBe(1);
    expect(stdout).toContain('workerSelector of step "a" contains a secret');
    const empty = place('params: ZONE=\nsteps: [{name: a, command: echo, workerSelector: {zone: $ZONE}}]\n');
    expect((await empty.run()).stdout).toContain('workerSelector of step "a": the label "zone" is empty');
  });

  it('are listed', async () => {
    const { call } = place('steps: []');
    const { stdout } = await call('workers', '--engine', world.server.url);
    expect(stdout).toMatch(/^gpu +gpu=true,os=linux \+arch=arm64,os=any +0\.1\.0 +2 +\d/m);
    const listed = JSON.parse((await call('workers', '--json', '--engine', world.server.url)).stdout);
    expect(listed).toEqual([
      expect.objectContaining({
        name: 'gpu',
        labels: { gpu: 'true', os: 'linux' },
        serves: [{ arch: 'arm64', os: 'any' }],
        slots: 2,
      }),
      expect.objectContaining({ name: 'plain', labels: {}, serves: [] }),
    ]);
  });

  it('are read from the command line of a worker, or refused', async () => {
    const { call, cwd } = place('steps: []');
    const refusal = async (...args: readonly string[]) =>
      (await call('worker', '--engine', world.server.url, ...args)).stderr;
    expect(await refusal('--labels', 'gpu')).toContain('--labels: "gpu" is not a label: write NAME=VALUE');
    expect(await refusal('--serve', 'a=1,a=2')).toContain('--serve: it has the label "a" twice');
    expect(await refusal('--labels', 'a=1,b=1,c=1,d=1,e=1')).toContain('--labels takes at most 4 labels');
    expect(existsSync(join(cwd, 'home'))).toBe(false);
  });

  it('that no worker has are named, and waited for', async () => {
    const { start, call } = place(`
params: ZONE=eu
steps: [{name: first, command: echo}, {name: far, command: echo, workerSelector: {zone: $ZONE}}]
`);
    const started = start();
    const wait = 'step "far" waits for a worker with zone=eu: none is connected';
    await started.until(wait);
    // An engine that does not answer soon tells nothing.
    const status = async (...more: readonly string[]) => (await call('status', ...more)).stdout;
    await expect.poll(status, { timeout: 30_000 }).toContain(`warning: ${wait}\n`);
    const warnings = async () => JSON.parse(await status('--json')).warnings;
    await expect.poll(warnings, { timeout: 30_000 }).toEqual([wait]);
    await world.server.worker('eu', { args: ['--labels', 'zone=eu'] });
    expect((await started.ended).code).toBe(0);
    expect(await warnings()).toEqual([]);
  });
});
