import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Step } from '#core/workflow.ts';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { describeWith } from '../../support/require.ts';
import { failed, succeeded, temporaryDirectory } from '../attempt.ts';
import { type DockerStepSettings, runDockerStep } from './docker-step.ts';

describeWith('docker', hasDocker, 'a docker step', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  const run = (settings: Omit<DockerStepSettings, 'host'>) => runDockerStep({ host: world.host, ...settings });

  describe('gives the container its command', () => {
    test('as words, each variable staying one', async () => {
      const { outcome, stdout, stderr } = await run({
        step: { command: `printf %s| 'a b' "$X" $X $NONE`.replace('|', '\\|'), args: ['$X', ''] },
        variables: { X: 'x  y; $(id)' },
      });
      expect({ outcome, stdout, stderr }).toEqual({
        outcome: succeeded,
        stdout: 'a b|x  y; $(id)|x  y; $(id)|x  y; $(id)||',
        stderr: '',
      });
    });

    test('as arguments of the entrypoint', async () => {
      const { stdout } = await run({ config: { image: 'wf-entry:1' }, step: { command: 'a "b  c"' } });
      expect(stdout).toBe('entry a b  c\n');
    });

    test('from the image, if the step has none', async () => {
      const { stdout } = await run({ config: { image: 'wf-entry:1' }, step: { command: null } });
      expect(stdout).toBe('entry of the image\n');
    });

    test('through its shell if it has shell syntax, with the variables that it mentions and the parameters', async () => {
      const { outcome, stdout, stderr } = await run({
        step: { command: 'echo "$X|$Y|$1" | tr a-z A-Z; echo err >&2; exit 3', args: [] },
        params: ['p; q'],
        variables: { X: 'x; y', Y: 'of this machine' },
        workflow: { env: [{ name: 'X', value: 'x; y' }] },
      });
      expect({ outcome, stdout, stderr }).toEqual({
        outcome: failed('exit', 'exit 3', 3),
        stdout: 'X; Y||P; Q\n',
        stderr: 'err\n',
      });
    });

    test("through the shell instead of the image's entrypoint", async () => {
      const { stdout } = await run({ config: { image: 'wf-entry:1' }, step: { command: 'echo a && echo b' } });
      expect(stdout).toBe('a\nb\n');
    });

    test('unchanged to an entrypoint, if a shell would only expand it', async () => {
      const { stdout } = await run({
        config: { image: 'wf-entry:1' },
        step: { command: 'run https://example.org/a?b=$X&c=* {d} ~' },
        variables: { X: 'x y' },
      });
      expect(stdout).toBe('entry run https://example.org/a?b=x y&c=* {d} ~\n');
    });

    test("not at all, if shell syntax would become an argument of an entrypoint of the step's own", async () => {
      const { outcome } = await run({ config: { container: { entrypoint: ['echo'] } }, step: { command: 'a | b' } });
      expect(outcome).toEqual(
        failed(
          'error',
          'the command has shell syntax, which the entrypoint ["echo"] would get as arguments: give the command as a list ' +
            'of words, or leave out "entrypoint"',
        ),
      );
    });
  });

  describe('runs a script in the container', () => {
    test('unchanged, with the shell, with the parameters as arguments and the variables that it mentions', async () => {
      const { outcome, stdout } = await run({
        step: { command: null, script: 'echo "$X ${X#a} $# $1"\nexit 4\n' },
        params: ['p q'],
        variables: { X: 'ab' },
        workflow: { params: [{ name: 'X', value: '' }] },
      });
      expect({ outcome, stdout }).toEqual({ outcome: failed('exit', 'exit 4', 4), stdout: 'ab b 1 p q\n' });
    });

    test("by its first line, by a command, and instead of the image's entrypoint", async () => {
      const awk = await run({ step: { command: null, script: '#!/bin/awk -f\nBEGIN { print "awk", ARGC }\n' } });
      const sed = await run({
        config: { image: 'wf-entry:1' },
        step: { command: 'cat -n', script: 'of $X\n', args: ['/etc/hostname'] },
      });
      expect(awk.stdout).toBe('awk 1\n');
      expect(sed.stdout).toMatch(/^ +1\tof \$X\n +2\t[0-9a-f]{12}\n$/);
    });

    test('as an unprivileged user, if nothing can be written', async () => {
      const { stdout, stderr, attempt } = await run({
        config: { container: { user: '1000:1000' }, host: { readonlyRootfs: true } },
        step: { command: null, script: 'id -u; touch /here 2>/dev/null || echo no\n' },
      });
      expect({ stdout, stderr }).toEqual({ stdout: '1000\nno\n', stderr: '' });
      expect(await volumesOf(attempt.runId)).toEqual([]);
    });
  });

  async function volumesOf(runId: string): Promise<unknown> {
    expect(await world.containersOf(runId)).toEqual([]);
    return (await world.docker.listVolumes()).Volumes;
  }

  describe('gives the container an environment', () => {
    test("of its own: the step's run, its own entries, and the settings", async () => {
      const { stdout, attempt } = await run({
        name: 'env',
        step: {
          command: 'env',
          env: [
            { name: 'STEP', value: '1' },
            { name: 'DOCKER_HOST', value: 'x' },
          ],
        },
        config: { image: 'wf-test:1', container: { env: ['A=$X', 'WF_ATTEMPT=9', 'B=b=c'] } },
        variables: { X: 'x y', STEP: 'of the step', WF_WORKFLOW: 'flow', DAG_RUN_STEP_NAME: 'env' },
        workflow: { name: 'flow', env: [{ name: 'X', value: '' }] },
      });
      const variables = stdout
        .trim()
        .split('\n')
        .filter((line) => !/^(PATH|HOSTNAME|HOME)=/.test(line))
        .sort();
      expect(variables).toEqual([
        'A=x y',
        'B=b=c',
        'DAG_RUN_STEP_NAME=env',
        'STEP=of the step',
        'WF_ATTEMPT=9',
        `WF_RUN_ID=${attempt.runId}`,
        'WF_STEP=env',
        'WF_WORKFLOW=flow',
      ]);
    });

    test.each<[string, Partial<Step>]>([
      ['a quoted word', { command: `sh -c 'echo "$TAG"'` }],
      ['a word of a list', { command: ['sh', '-c', 'echo "$TAG"'] }],
      ['one of args', { command: 'sh -c', args: ['echo "\\$TAG"'] }],
    ])('with the variables that its command leaves unexpanded: %s', async (_, step) => {
      const { stdout } = await run({
        step,
        variables: { TAG: 'a  "b', OTHER: 'x' },
        workflow: { env: [{ name: 'TAG', value: '' }] },
      });
      expect(stdout).toBe('a  "b\n');
    });

    test.each([
      ['a map', { A: '1', B: '$X' }],
      ['a list of maps', [{ A: '1' }, { B: '$X' }]],
    ])('also as %s', async (_, env) => {
      const { stdout } = await run({
        step: { command: 'sh -c "echo \\$A \\$B"' },
        config: { container: { env } },
        variables: { X: '2' },
      });
      expect(stdout).toBe('1 2\n');
    });
  });

  test('passes the settings of Docker on, with their variables replaced', async () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data/file'), 'from here\n');
    const { outcome, stdout } = await run({
      cwd: folder,
      step: {
        command: ['sh', '-c', 'pwd; cat file; id -u; hostname; cat /sys/fs/cgroup/memory/memory.limit_in_bytes'],
      },
      config: {
        image: '$IMAGE',
        container: { workingDir: '/$DIR', user: '$UID_', hostname: 'box', labels: { $DIR: '$DIR' } },
        host: { binds: ['./$DIR:/$DIR:ro'], networkMode: 'none', privileged: '$NO', resources: { Memory: '$LIMIT' } },
      },
      variables: { IMAGE: 'wf-test:1', DIR: 'data', UID_: '7', LIMIT: '32m', NO: 'false' },
    });
    expect({ outcome, stdout }).toEqual({
      outcome: succeeded,
      stdout: '/data\nfrom here\n7\nbox\n33554432\n',
    });
  });

  test('with a value that Docker could not take fails and names it', async () => {
    const { outcome } = await run({ config: { host: { memory: '$X' } }, variables: { X: 'lots' } });
    expect(outcome).toEqual(failed('error', '"memory" is "lots", which is not a size such as 512m'));
  });

  describe('ends', () => {
    test('as killed if its program was killed', async () => {
      const { outcome } = await run({ step: { command: ['sh', '-c', "sh -c 'kill -9 $$'; exit $?"] } });
      expect(outcome).toEqual(failed('exit', 'exit 137: killed (SIGKILL)', 137));
    });

    test('as out of memory if it ran out of memory', async () => {
      const { outcome } = await run({
        config: { host: { memory: '16m' } },
        step: { command: ['sh', '-c', 'x=$(yes | head -c 100000000)'] },
      });
      expect(outcome).toEqual(failed('exit', 'exit 137: out of memory (the limit is 16 MiB)', 137));
    });

    test.each([
      ['nosuch', 127, '"nosuch" does not exist in image "wf-test:1"'],
      ['/etc', 126, '"/etc" cannot be executed in image "wf-test:1": permission denied'],
    ])('as in a shell where the container cannot run %s', async (command, exitCode, why) => {
      const { outcome, attempt } = await run({ step: { command } });
      expect(outcome).toEqual(failed('exit', why, exitCode));
      expect(await world.containersOf(attempt.runId)).toEqual([]);
    });

    test('with the message of Docker if no container can be created', async () => {
      const { outcome } = await run({ config: { host: { networkMode: 'container:nosuch' } } });
      expect(outcome).toMatchObject({
        reason: 'error',
        exitCode: null,
        message: expect.stringMatching(/^the container of image "wf-test:1" could not start: .*nosuch/),
      });
    });
  });

  describe('writes output', () => {
    test('while it runs, each stream into its log', async () => {
      const { outcome, stdout, stderr } = await run({
        step: { command: ['sh', '-c', 'for i in 1 2 3; do echo o$i; echo e$i >&2; done; printf é'] },
      });
      expect({ outcome, stdout, stderr }).toEqual({
        outcome: succeeded,
        stdout: 'o1\no2\no3\né',
        stderr: 'e1\ne2\ne3\n',
      });
    });

    test('of a terminal as one stream', async () => {
      const { stdout, stderr } = await run({
        config: { container: { tty: true } },
        step: { command: ['sh', '-c', 'test -t 1 && echo o; echo e >&2'] },
      });
      expect({ stdout, stderr }).toEqual({ stdout: 'o\r\ne\r\n', stderr: '' });
    });

    test('of any size, without keeping it', async () => {
      const before = process.memoryUsage().rss;
      let most = 0;
      let length = 0;
      const step = startCounting((chunk) => {
        length += chunk;
        most = Math.max(most, process.memoryUsage().rss);
      });
      expect(await step).toEqual(succeeded);
      expect(length).toBe(50_000_000);
      expect(most - before).toBeLessThan(100_000_000);
    });
  });

  async function startCounting(count: (length: number) => void) {
    const { executor } = await import('#executors/docker/docker.ts');
    const { testAttempt } = await import('../attempt.ts');
    const { attempt } = testAttempt({
      step: { command: ['sh', '-c', 'yes | head -c 50000000'] },
      variables: { DOCKER_HOST: world.host },
    });
    return executor.run({ image: 'wf-test:1' }, { ...attempt, write: (_, chunk) => count(chunk.length) });
  }

  describe('leaves behind', () => {
    test('no container', async () => {
      const { attempt } = await run({ step: { command: 'false' } });
      expect(await world.containersOf(attempt.runId)).toEqual([]);
    });

    test('no timer that would keep the program alive', async () => {
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
      const before = timers();
      await run({ step: { command: 'true' } });
      expect(timers()).toBeLessThanOrEqual(before);
    });

    test.each([
      ['autoRemove', { autoRemove: false }],
      ['host.autoRemove', { host: { autoRemove: false } }],
    ])('its container where %s is false', async (_, config) => {
      const { attempt } = await run({ config, step: { command: ['sh', '-c', 'exit 3'] } });
      const [container] = await world.containersOf(attempt.runId);
      expect(container).toMatchObject({ State: 'exited', Labels: { 'wf.step': 'a step', 'wf.keep': 'true' } });
      await world.docker.getContainer(container?.Id ?? '').remove();
    });

    test('a named one until the same step creates the next', async () => {
      const config = { containerName: 'kept-$N', autoRemove: false };
      const first = await run({ config, step: { command: 'true' }, variables: { N: '1' } });
      const second = await run({ config, step: { command: 'true' }, variables: { N: '1' } });
      expect([first.outcome, second.outcome]).toEqual([succeeded, succeeded]);
      expect(await world.containersOf(first.attempt.runId)).toEqual([]);
      const [container] = await world.containersOf(second.attempt.runId);
      expect(container?.Names).toEqual(['/kept-1']);
      const other = await run({ config, step: { command: 'true' }, variables: { N: '1' }, name: 'another' });
      expect(other.outcome).toMatchObject({
        reason: 'error',
        message: expect.stringContaining('"/kept-1" is already in use'),
      });
      await world.docker.getContainer('kept-1').remove();
    });
  });
});
