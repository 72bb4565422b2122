import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Container } from 'dockerode';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '#core/workflow.ts';
import type { Daemon } from '#executors/docker/docker-daemon.ts';
import { signalMarkedProcesses } from '#executors/docker/orphans.ts';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { describeWith } from '../../support/require.ts';
import { failed, succeeded, until } from '../attempt.ts';
import { type DockerStepSettings, startDockerStep } from './docker-step.ts';

describeWith('docker', hasDocker, 'a docker step in a running container', () => {
  let world: TestDocker;
  let container: Container;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    container = await world.docker.createContainer({ Image: 'wf-test:1', name: 'db', Cmd: ['sleep', '1000'] });
    await container.start();
  });
  afterEach(() => container.remove({ force: true }));

  type Settings = Omit<DockerStepSettings, 'host' | 'config'> & { readonly exec?: JsonObject | boolean };

  function start({ exec, ...settings }: Settings) {
    const config = { image: undefined, containerName: '$NAME', ...(exec === undefined ? {} : { exec }) };
    return startDockerStep({
      host: world.host,
      ...settings,
      config: config as unknown as JsonObject,
      variables: { NAME: 'db', ...settings.variables },
    });
  }

  async function run(settings: Settings) {
    const step = start(settings);
    const outcome = await step.running;
    return { ...step, outcome, stdout: step.stdout(), stderr: step.stderr() };
  }

  /** The programs in the container besides its own. */
  async function programs(): Promise<readonly string[]> {
    const { Processes } = (await container.top({ ps_args: '-o pid,args' })) as { Processes: string[][] };
    return Processes.map(([, ...words]) => words.join(' ')).filter((program) => program !== 'sleep 1000');
  }

  test('runs with the settings it asks for, and leaves the container running', async () => {
    const { outcome, stdout, stderr } = await run({
      step: { command: ['sh', '-c', 'echo $(pwd) $(id -u) $A $WF_STEP; echo err >&2; exit 3'] },
      exec: { user: '7', workingDir: '/$DIR', env: [{ A: '$DIR' }] },
      variables: { DIR: 'etc' },
    });
    expect({ outcome, stdout, stderr }).toEqual({
      outcome: failed('exit', 'exit 3', 3),
      stdout: '/etc 7 etc a step\n',
      stderr: 'err\n',
    });
    expect((await container.inspect()).State.Running).toBe(true);
  });

  test('has the variables that its command leaves to a program in the container', async () => {
    const { stdout } = await run({
      step: { command: `sh -c 'echo "$TAG $OTHER"'` },
      variables: { TAG: 'a  "b' },
      workflow: { env: [{ name: 'TAG', value: '' }] },
    });
    expect(stdout).toBe('a  "b \n');
  });

  test('runs shell syntax with the shell of the container', async () => {
    const { outcome, stdout } = await run({ step: { command: 'echo a | tr a b' }, exec: true });
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'b\n' });
  });

  test('runs a script and removes it', async () => {
    const { outcome, stdout } = await run({ step: { command: null, script: 'echo "$0 $#"\n' }, params: ['a b'] });
    expect({ outcome, stdout }).toEqual({
      outcome: succeeded,
      stdout: expect.stringMatching(/^\/wf-script-[0-9a-f]{8} 1\n$/),
    });
    const list = await run({ step: { command: 'ls /' } });
    expect(list.stdout).not.toContain('wf-script');
  });

  test('ends its background processes silently', async () => {
    const leaving = 'sleep 1000.5 & setsid sleep 1000.5 >&- 2>&- & echo left';
    const { outcome, stdout, stderr } = await run({ step: { command: ['sh', '-c', leaving] }, exec: { user: '7' } });
    expect({ outcome, stdout, stderr }).toEqual({ outcome: succeeded, stdout: 'left\n', stderr: '' });
    expect(await programs()).toEqual([]);
  });

  test('spares background processes on request, and does not wait for them', async () => {
    const command = ['sh', '-c', 'sleep 1000.5 & echo left'];
    const spared = await run({ step: { command, leaveBackground: true } });
    const next = await run({ step: { command: 'echo next' } });
    expect([spared.outcome, next.outcome]).toEqual([succeeded, succeeded]);
    expect(await programs()).toEqual(['sleep 1000.5']);
  });

  test('reports background processes that it cannot end', async () => {
    const command = ['sh', '-c', 'sleep 1000.5 & rm /bin/sh'];
    const { outcome, stderr } = await run({ step: { command } });
    expect(outcome).toEqual(succeeded);
    expect(stderr).toMatch(
      /^processes left by the command keep running in the container: .*"sh": executable file not found/,
    );
  });

  test('reports no leftover processes if the container has stopped', async () => {
    await container.kill();
    await container.wait();
    const daemon = { docker: world.docker, over: new AbortController().signal } as Daemon;
    const marked = { daemon, container, exec: {}, mark: 'WF_EXEC=none' };
    expect(await signalMarkedProcesses(marked, 'SIGKILL')).toBeNull();
  });

  test('does not end when it closes its output', async () => {
    const { outcome } = await run({ step: { command: ['sh', '-c', 'exec >&- 2>&-; sleep 0.2; exit 3'] } });
    expect(outcome).toEqual(failed('exit', 'exit 3', 3));
  });

  test('exits like a shell if the container does not have the program', async () => {
    const missing = await run({ step: { command: 'nosuch' } });
    const folder = await run({ step: { command: '/etc' } });
    const own = await run({ step: { command: ['sh', '-c', 'echo "exec: "x": no"; exit 126'] } });
    expect([missing.outcome, folder.outcome, own.outcome]).toEqual([
      failed('exit', '"nosuch" does not exist in container "db"', 127),
      failed('exit', '"/etc" cannot be executed in container "db": permission denied', 126),
      failed('exit', 'exit 126', 126),
    ]);
  });

  test('reports other reasons why it cannot start', async () => {
    const { outcome } = await run({ step: { command: 'echo a' }, exec: { workingDir: '/nope' } });
    expect(outcome).toMatchObject({ status: 'failed', reason: 'exit', exitCode: 126 });
    const { message } = outcome as { readonly message: string };
    expect(message).toMatch(
      /^the command could not start in container "db": chdir to cwd \("\/nope"\) .*no such file or directory$/,
    );
  });

  test('gets the signal of a stop, as any user', async () => {
    const step = start({
      step: {
        command: ['sh', '-c', 'trap "echo got; exit 0" USR1; sleep 1000.5 & echo ready; while :; do sleep 0.01; done'],
        signalOnStop: 'SIGUSR1',
      },
      exec: { user: '7' },
    });
    await until(() => step.stdout().includes('ready'));
    step.stop();
    expect(await step.running).toEqual(succeeded);
    expect({ stdout: step.stdout(), left: await programs() }).toEqual({ stdout: 'ready\ngot\n', left: [] });
  });

  /** Starts a step that prints `up` and keeps running, over connections that can be reset; `refusing`: new ones are refused. */
  async function startOverNetwork() {
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => {
      const daemon = connect(world.host.slice('unix://'.length)).on('error', () => {});
      sockets.add(socket.on('error', () => {}).on('close', () => daemon.destroy()));
      socket.pipe(daemon).pipe(socket);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const host = `tcp://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const reset = ({ refusing }: { readonly refusing: boolean }) => {
      if (refusing) proxy.close();
      for (const socket of sockets) socket.resetAndDestroy();
    };
    onTestFinished(() => {
      reset({ refusing: false });
      proxy.close();
    });
    const variables = { DOCKER_HOST: host };
    const step = start({ step: { command: ['sh', '-c', 'echo up; sleep 1000.5; echo late'] }, variables });
    await until(() => step.stdout() === 'up\n');
    return { ...step, reset };
  }

  test('fails and is ended if its connection is lost', async () => {
    const { running, stdout, stderr, reset } = await startOverNetwork();
    reset({ refusing: false });
    // Whichever request notices it first.
    const lost = /^the connection to Docker was lost \((?:read|write) ECONNRESET\)$/;
    expect(await running).toEqual({ ...failed('error', ''), message: expect.stringMatching(lost) });
    expect([stdout(), stderr()]).toEqual(['up\n', '']);
    expect(await programs()).toEqual([]);
  });

  test('says that it keeps running if the daemon is lost', async () => {
    const { running, stderr, reset } = await startOverNetwork();
    reset({ refusing: true });
    // A request that is under way is reset, a new one is refused.
    const lost = /the connection to Docker was lost \((?:connect ECONNREFUSED [\d.:]+|(?:read|write) ECONNRESET)\)/
      .source;
    expect(await running).toEqual({ ...failed('error', ''), message: expect.stringMatching(`^${lost}$`) });
    expect(stderr()).toMatch(new RegExp(`^the command keeps running in the container: ${lost}\n$`));
    expect(await programs()).toContain('sleep 1000.5');
  });

  test('is killed with everything it has started', async () => {
    const step = start({
      step: { command: ['sh', '-c', 'trap "" TERM; sleep 1000.5 & echo ready; while :; do sleep 0.01; done'] },
    });
    await until(() => step.stdout().includes('ready'));
    step.stop();
    step.kill();
    expect(await step.running).toEqual(failed('exit', 'exit 137: killed (SIGKILL)', 137));
    expect(await programs()).toEqual([]);
  });

  test('fails if the container does not exist or is not running', async () => {
    const none = await run({ step: { command: 'true' }, variables: { NAME: 'nosuch' } });
    await container.kill();
    await container.wait();
    const ended = await run({ step: { command: 'true' } });
    expect([none.outcome, ended.outcome]).toEqual([
      failed('error', 'no container named "nosuch"'),
      failed('error', 'container "db" is not running (exited)'),
    ]);
  });
});
