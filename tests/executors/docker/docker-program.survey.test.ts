import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Container } from 'dockerode';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ownerLabel } from '#executors/docker/orphans.ts';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { describeWith } from '../../support/require.ts';
import { startWf, wf } from '../../support/wf.ts';
import { temporaryDirectory } from '../attempt.ts';

/** The workflows of the guide, each with its line number. */
const guide = Array.from(
  readFileSync(resolve(import.meta.dirname, '../../../docs/guide/docker.md'), 'utf8').matchAll(
    /^```yaml\n([\s\S]*?)^```$/gm,
  ),
  ({ index, input, 1: text = '' }) => [input.slice(0, index).split('\n').length, text] as const,
);

describeWith('docker', hasDocker, 'the built program', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());
  afterEach(async () => {
    const left = await containers();
    await Promise.all(left.map(({ Id }) => world.docker.getContainer(Id).remove({ force: true })));
  });

  const containers = () => world.docker.listContainers({ all: true, filters: { label: ['wf.owner'] } });

  /** The states of all containers, by their steps. */
  async function states(): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await containers()).map(({ Labels, State }) => [Labels['wf.step'], State]));
  }

  type Settings = { readonly command: string; readonly config?: Readonly<Record<string, unknown>> };

  /** Starts a workflow with one container step, in a separate home. */
  function start(name: string, { command, config = {} }: Settings) {
    const cwd = temporaryDirectory();
    const executor = { type: 'docker', config: { image: 'wf-test:1', ...config } };
    const steps = [{ name, executor, command }];
    writeFileSync(join(cwd, 'flow.yaml'), JSON.stringify({ steps, MaxCleanUpTimeSec: 1 }));
    const env = { WF_HOME: join(cwd, 'home'), DOCKER_HOST: world.host };
    const running = startWf(['run', 'flow.yaml'], { cwd, env });
    onTestFinished(() => void running.kill('SIGKILL'));
    return running;
  }

  const run = (name: string, settings: Settings) => start(name, settings).ended;
  const waiting = 'sh -c "echo ready; sleep 1000"';

  test('runs a step in a container', async () => {
    const { code, stdout } = await run('failing', { command: 'sh -c "echo in; exit 3"' });
    expect(code).toBe(1);
    expect(stdout).toContain('| in\n');
    expect(stdout).toContain('exit 3');
    expect(await states()).toEqual({});
  });

  test('runs the example', async () => {
    const cwd = temporaryDirectory();
    cpSync(resolve(import.meta.dirname, '../../../fixtures/services/docker'), cwd, { recursive: true });
    const env = { WF_HOME: join(cwd, 'home'), DOCKER_HOST: world.host };
    const { code, stdout } = await wf(['run', 'workflow.yaml', '-p', 'IMAGE=wf-test:1'], { cwd, env });
    expect(code).toBe(0);
    expect(stdout).toContain('| words: 3 text\n');
    expect(readFileSync(join(cwd, 'data/text'), 'utf8')).toBe('one two three\n');
  });

  test.each(guide)('runs the example in line %d of the guide', async (_, text) => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'flow.yaml'), text);
    const { code, stdout, stderr } = await wf(['validate', 'flow.yaml'], {
      cwd,
      env: { WF_HOME: join(cwd, 'home'), BUILD_TOKEN: 'token' },
    });
    expect({ code, problems: `${stdout}${stderr}`.includes('warning') }).toEqual({ code: 0, problems: false });
  });

  test('removes the containers of a killed wf, and no others', async () => {
    const killed = start('killed', { command: waiting });
    const other = start('other', { command: waiting });
    await Promise.all([killed.until('| ready'), other.until('| ready')]);
    const foreign = JSON.stringify({ ...JSON.parse(ownerLabel()), pid: 2 ** 30, machine: 'another' });
    await world.docker.createContainer({
      Image: 'wf-test:1',
      Cmd: ['true'],
      Labels: { 'wf.step': 'stranger', 'wf.owner': foreign },
    });
    killed.kill('SIGKILL');
    await killed.ended;
    expect(await states()).toEqual({ killed: 'running', other: 'running', stranger: 'created' });

    const { code, stdout } = await run('next', { command: 'true' });

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /removed container [0-9a-f]{12} of step "killed" in run [0-9a-f-]{36}: the process that started/,
    );
    expect(await states()).toEqual({ other: 'running', stranger: 'created' });
    other.kill('SIGTERM');
    expect(await other.ended).toMatchObject({ code: 143 });
    expect(await states()).toEqual({ stranger: 'created' });
  });

  describe('a command in a running container', () => {
    let container: Container;
    beforeEach(async () => {
      container = await world.docker.createContainer({ Image: 'wf-test:1', name: 'db', Cmd: ['sleep', '1000'] });
      await container.start();
    });
    afterEach(() => container.remove({ force: true }));

    /** The programs in the container besides its own, and the records of commands in it. */
    async function left() {
      const { Processes } = (await container.top({ ps_args: '-o pid,args' })) as { Processes: string[][] };
      const programs = Processes.map(([, ...words]) => words.join(' ')).filter((words) => words !== 'sleep 1000');
      const { Volumes } = await world.docker.listVolumes({ filters: { label: ['wf.exec'] } });
      return { programs, records: Volumes.map(({ Labels }) => Labels['wf.step']) };
    }

    const config = { image: undefined, containerName: 'db', exec: { user: '7' } };
    const lasting = (marker: string) => `sh -c "setsid sleep ${marker} & echo ready; sleep ${marker}; true"`;

    test('is ended by the next docker step when its wf was killed, and other commands continue', async () => {
      const killed = start('killed', { command: lasting('1000.1'), config });
      const other = start('other', { command: 'sh -c "echo ready; exec sleep 1000.2"', config });
      await Promise.all([killed.until('| ready'), other.until('| ready')]);
      killed.kill('SIGKILL');
      await killed.ended;
      expect((await left()).programs).toContain('sleep 1000.1');

      const { code, stdout } = await run('next', { command: 'true' });

      expect(code).toBe(0);
      expect(stdout).toMatch(
        /ended the command of step "killed" in run [0-9a-f-]{36} in container "db": the process that started it is gone/,
      );
      expect(await left()).toEqual({ programs: ['sleep 1000.2'], records: ['other'] });
      other.kill('SIGTERM');
      expect(await other.ended).toMatchObject({ code: 143 });
      expect(await left()).toEqual({ programs: [], records: [] });
    });

    test('is left alone if its owner is on another machine', async () => {
      const killed = start('killed', { command: 'sh -c "echo ready; exec sleep 1000.1"', config });
      await killed.until('| ready');
      const { Volumes } = await world.docker.listVolumes({ filters: { label: ['wf.exec'] } });
      const [{ Name = '', Labels = {} } = {}] = Volumes;
      killed.kill('SIGKILL');
      await killed.ended;
      const owner = JSON.stringify({ ...JSON.parse(Labels['wf.owner'] ?? ''), machine: 'another' });
      await world.docker.getVolume(Name).remove();
      await world.docker.createVolume({ Name, Labels: { ...Labels, 'wf.owner': owner } });
      await run('next', { command: 'true' });
      expect(await left()).toEqual({ programs: ['sleep 1000.1'], records: ['killed'] });
      await world.docker.getVolume(Name).remove();
    });

    test('leaves no record when it ends or its container is removed', async () => {
      await run('ending', { command: 'true', config });
      const killed = start('killed', { command: 'sh -c "echo ready; exec sleep 1000.1"', config });
      await killed.until('| ready');
      killed.kill('SIGKILL');
      await killed.ended;
      await container.stop({ t: 0 });
      const { stdout } = await run('next', { command: 'true' });
      await container.start();
      expect(stdout).not.toContain('the command');
      expect(await left()).toEqual({ programs: [], records: [] });
    });
  });

  test('does not remove kept containers, unless they are running without their owner', async () => {
    const config = { autoRemove: false };
    await run('kept', { command: 'true', config });
    const killed = start('killed', { command: waiting, config });
    await killed.until('| ready');
    killed.kill('SIGKILL');
    await killed.ended;
    await run('next', { command: 'true' });
    expect(await states()).toEqual({ kept: 'exited' });
  });

  test('leaves no container after a stop by two signals', async () => {
    const command = 'sh -c "trap : TERM; echo ready; while :; do sleep 0.01; done"';
    const running = start('stubborn', { command });
    await running.until('| ready');
    running.kill('SIGINT');
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(await states()).toEqual({});
  });
});
