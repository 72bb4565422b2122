import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { hasDocker, startDocker } from '../../support/docker.ts';
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
      start: (...more: readonly string[]) => start(...args, ...more),
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

  const served = `
steps:
  - {name: api, service: {readyWhen: {line: up}}, script: 'echo up; exec sleep 600', retryPolicy: {limit: 1, intervalSec: 0}}
  - {name: each, script: 'cd ..; pwd', depends: api, parallel: [1, 2, 3, 4, 5, 6]}
  - {name: child, run: child, depends: api}
  - name: last
    depends: [each, child]
    script: 'echo begun $WORKER $WF_ATTEMPT >> HERE/log; until test -e HERE/go; do sleep 0.05; done'
    retryPolicy: {limit: 1, intervalSec: 0}
handlerOn:
  exit: {command: 'true'}
---
name: child
steps: [{name: inner, script: 'echo $WORKER >> HERE/inner', parallel: [1, 2, 3]}]
`;

  /** A run whose last step waits for the file `go`. */
  function placeServed(selector = '') {
    const made = place('');
    const { cwd } = made;
    writeFileSync(join(cwd, 'work.yaml'), `${selector}${served.replaceAll('HERE', cwd)}`);
    const read = (name: string) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8') : '');
    return { ...made, read, go: () => writeFileSync(join(cwd, 'go'), ''), until: () => expect.poll(() => read('log')) };
  }

  it('and services bring all steps of a run, its handlers and its child runs to one worker', async () => {
    const { start, until, go, read, workers } = placeServed();
    const started = start();
    await until().toContain('begun');
    go();
    expect((await started.ended).code).toBe(0);
    const names = new Set([...Object.values(await workers()), ...read('inner').trim().split('\n')]);
    names.delete(undefined as never);
    expect(names.size).toBe(1);
  });

  it('of all steps are those of the worker of a run with services', async () => {
    const { run, workers } = place(`
steps:
  - {name: api, service: {}, command: sleep 600, workerSelector: {os: linux}}
  - {name: test, command: 'true', depends: api, workerSelector: {gpu: true}}
  - {name: any, command: 'true', workerSelector: local}
`);
    expect((await run()).code).toBe(0);
    expect(await workers()).toEqual({ api: 'gpu', test: 'gpu', any: 'gpu' });
  });

  it('that a run with services needs are named once, and waited for', async () => {
    const { start } = place(`
steps:
  - {name: api, service: {}, command: sleep 600, workerSelector: {rack: one}}
  - {name: test, command: 'true', depends: api}
`);
    const started = start();
    await started.until('the run waits for a worker with rack=one: none is connected');
    await world.server.worker('rack', { args: ['--labels', 'rack=one'] });
    expect((await started.ended).code).toBe(0);
  });

  it.each([
    ['SIGKILL', true],
    ['SIGTERM', false],
  ] as const)('a run with services whose worker gets %s', { timeout: 60_000 }, async (signal, isLost) => {
    const args = ['--labels', `only=${signal}`];
    const { start, until, go, call, read } = placeServed(`workerSelector: {only: ${signal}}`);
    const first = await world.server.worker(`first-${signal}`, { args });
    const started = start('--lost-after', '3');
    await until().toContain('begun');
    first.kill(signal);
    const next = await world.server.worker(`next-${signal}`, { args });
    if (isLost) await until().toContain(`begun ${next.name} 2`);
    go();
    const { code, stdout } = await started.ended;
    expect({ code, isLost: stdout.includes('was lost') }).toEqual({ code: 0, isLost });
    expect(read('log').trim().split('\n')).toHaveLength(isLost ? 2 : 1);
    expect((await first.ended).code).toBe(isLost ? null : 0);
    expect((await call('status', '@latest')).stdout).toContain('SUCCEEDED');
  });

  it.runIf(hasDocker)(
    'and the container of a run are on one worker, whose guard removes it',
    async () => {
      const docker = await startDocker();
      onTestFinished(() => docker.stop());
      const { call, start } = place(`
env: [DOCKER_HOST: "${docker.host}"]
workerSelector: {only: docker}
container: {image: "wf-test:1"}
steps:
  - {name: a, script: 'echo made > /tmp/kept'}
  - {name: b, script: 'cat /tmp/kept', depends: a}
  - {name: c, script: 'test ! -e /tmp/kept || exec sleep 600', depends: b, retryPolicy: {limit: 1, intervalSec: 0}}
`);
      const label = ['--labels', 'only=docker'];
      const first = await world.server.worker('docker-1', { args: label });
      const started = start('--lost-after', '3');
      await started.until('[c] START');
      const { runId } = JSON.parse((await call('status', '--json', '@latest')).stdout);
      expect(await docker.containersOf(runId)).toHaveLength(1);
      first.kill('SIGKILL');
      await expect.poll(() => docker.containersOf(runId)).toEqual([]);
      await world.server.worker('docker-2', { args: label });
      expect((await started.ended).code).toBe(0);
      expect(await docker.containersOf(runId)).toEqual([]);
    },
    120_000,
  );
});
