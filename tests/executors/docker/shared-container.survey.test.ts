import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { crash, type Place, withPlace } from '../../support/past-runs.ts';
import { describeWith } from '../../support/require.ts';
import { runService } from '../../support/services.ts';
import { temporaryDirectory, until } from '../attempt.ts';

/**
 * Starts a proxy in front of a daemon. `cut` closes every connection, and from then on each new one, but leaves the fourth
 * inspection of the container without an answer: two steps make two each, unless they share the last. `silence` closes
 * every connection and leaves each new one without an answer.
 */
async function startCutter(daemon: string) {
  const sockets = new Set<Socket>();
  let inspections: number | null = null;
  let isSilent = false;
  const proxy = createSocketServer((socket) => {
    socket.on('error', () => {});
    sockets.add(socket);
    socket.once('data', (request) => {
      if (isSilent) return;
      if (inspections !== null) {
        if (!String(request).startsWith('GET /containers/') || ++inspections !== 4) socket.destroy();
        return;
      }
      const answers = connect(daemon.slice('unix://'.length)).on('error', () => {});
      socket.on('close', () => answers.destroy());
      answers.write(request);
      socket.pipe(answers).pipe(socket);
    });
  });
  const path = join(temporaryDirectory(), 'docker.sock');
  proxy.listen(path);
  await once(proxy, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = () => {
    inspections = 0;
    close();
  };
  const silence = () => {
    isSilent = true;
    close();
  };
  onTestFinished(() => {
    close();
    proxy.close();
  });
  return { host: `unix://${path}`, cut, silence };
}

describeWith('docker', hasDocker, 'the container of a workflow', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  /** Uses a workflow with this text. */
  const place = (text: string, use: (place: Place) => Promise<void>) =>
    withPlace({ 'w.yaml': `env: [DOCKER_HOST: "${world.host}"]\nMaxCleanUpTimeSec: 2\n${text}` }, use);

  /** Runs it; `out` is what its steps and handlers printed, `left` the containers of the run afterwards. */
  const run = async ({ wf, json }: Place, ...options: readonly string[]) => {
    const { code, stdout } = await wf('run', 'w.yaml', '--reporter', 'plain', ...options);
    const out = stdout.split('\n').flatMap((line) => /^\S+ \[(\S+)\] +\| (.*)/.exec(line)?.slice(1).join(': ') ?? []);
    const status = await json('status', '@latest');
    return { code, stdout, out, status, left: await world.containersOf(status.runId) };
  };

  const untilStarted = async (runId: string) => {
    while ((await world.containersOf(runId)).every(({ State }) => State !== 'running')) await setImmediate();
  };

  test('is one for all commands, scripts and handlers, and is removed after the last handler', () =>
    place(
      `
container: {image: wf-test:1, env: {MODE: fast}, workingDir: /tmp, volumes: [".:/src"]}
params: WHO=you
steps:
  - {name: a, command: 'pwd; echo $MODE $WHO; hostname > /tmp/name; touch /src/made', output: A}
  - {name: b, dir: sub, depends: a, preconditions: test -f made, command: 'pwd; [ "$(hostname)" = "$(cat /tmp/name)" ] && echo same'}
  - {name: c, depends: b, script: 'echo script $WF_STEP'}
  - {name: host, depends: a, executor: command, command: 'sh -c "echo $MODE on the host"'}
handlerOn:
  init: {command: mkdir -p sub}
  exit: {command: 'echo $WF_STATUS in $(hostname)'}`,
      async (place) => {
        const { code, out, status, left } = await run(place);
        const id = status.steps[0]?.container?.id ?? '';
        const name = id.slice(0, 12);
        expect({ code, out: out.toSorted(), left }).toEqual({
          code: 0,
          out: [
            'a: /tmp',
            'a: fast you',
            'b: /tmp/sub',
            'b: same',
            'c: script c',
            `handlerOn.exit: succeeded in ${name}`,
            'host: on the host',
          ],
          left: [],
        });
        expect(status.steps.map(({ container }) => container)).toEqual([
          { id, image: 'wf-test:1' },
          { id, image: 'wf-test:1' },
          { id, image: 'wf-test:1' },
          undefined,
        ]);
      },
    ));

  test('runs the example', async () => {
    const { ended } = await runService('containers', { DOCKER_HOST: world.host }, ['-p', 'IMAGE=wf-test:1']);
    expect({ code: ended.code, hasCounted: ended.stdout.includes('| words: 3 text') }).toEqual({
      code: 0,
      hasCounted: true,
    });
  });

  test('is ready when it is healthy and has printed a line', () =>
    place(
      `
container:
  image: wf-test:1
  command: [sh, -c, 'sleep 0.3; touch /tmp/up; echo server is up; trap exit TERM; while :; do sleep 0.1; done']
  waitFor: healthy
  logPattern: is (up|ready)
  healthcheck: {test: [test, -f, /tmp/up], interval: 0.2s, retries: 50}
steps:
  - {name: a, command: ls /tmp/up}`,
      async (place) => expect(await run(place)).toMatchObject({ code: 0, out: ['a: /tmp/up'], left: [] }),
    ));

  test('that ends before it is ready fails the step, and its retry starts another', () =>
    place(
      `
container: {image: wf-test:1, volumes: [".:/src"], command: [sh, -c, 'test -f /src/again || { echo no luck; touch /src/again; exit 3; }; echo up; trap exit TERM; while :; do sleep 0.1; done'], logPattern: up}
steps:
  - {name: a, command: echo here, retryPolicy: {limit: 1}}`,
      async (place) => {
        const { code, stdout, out, left } = await run(place);
        const why = 'the container of the run is not ready: its program ended with exit code 3: no luck';
        expect({ code, out, left }).toEqual({ code: 0, out: ['a: here'], left: [] });
        expect(stdout).toContain(`RETRY  now (attempt 2 of 2): ${why}`);
      },
    ));

  test('that ends while a step uses it fails the step with the reason unready', () =>
    place(
      `
container: {image: wf-test:1, command: [sh, -c, 'while [ ! -f /tmp/end ]; do sleep 0.1; done; exit 5']}
steps:
  - {name: a, command: touch /tmp/end; sleep 60}`,
      async (place) => {
        const { status, left } = await run(place);
        expect({ step: status.steps[0], left }).toMatchObject({
          step: {
            status: 'failed',
            reason: 'unready',
            error: 'the container of the run ended: its program ended with exit code 5',
          },
          left: [],
        });
      },
    ));

  test('whose daemon is lost fails every step that uses it with the same message, and is named as left', async () => {
    const { host, cut } = await startCutter(world.host);
    const text = `env: [DOCKER_HOST: "${host}"]
container: {image: wf-test:1}
steps:
  - {name: a, command: echo up; sleep 60}
  - {name: b, command: echo up; sleep 60}`;
    await withPlace({ 'w.yaml': text }, async (place) => {
      const running = place.start('run', 'w.yaml', '--run-id', 'lost', '--reporter', 'plain');
      await Promise.all(['[a] | up', '[b] | up'].map((line) => running.until(line)));
      cut();
      const { stdout } = await running.ended;
      const { steps } = await place.json('status', '@latest');
      const lost = 'the connection to Docker was lost (socket hang up)';
      expect(steps.map(({ reason, error }) => ({ reason, error }))).toEqual(
        ['a', 'b'].map(() => ({ reason: 'unready', error: `the container of the run ended: ${lost}` })),
      );
      const [left] = await world.containersOf('lost');
      expect(stdout).toContain(
        `container ${left?.Id.slice(0, 12)} could not be removed: ${lost}; a later docker step will remove it\n`,
      );
      await world.docker.getContainer(left?.Id ?? '').remove({ force: true });
    });
  });

  test('whose daemon hangs does not keep the run from its end', async () => {
    const { host, silence } = await startCutter(world.host);
    const text = `env: [DOCKER_HOST: "${host}"]
container: {image: wf-test:1}
steps:
  - {name: a, command: echo up}
  - {name: w, depends: a, executor: command, command: "while ! test -f go; do sleep 0.1; done"}
  - {name: b, depends: w, command: echo never}`;
    await withPlace({ 'w.yaml': text }, async (place) => {
      const running = place.start('run', 'w.yaml', '--run-id', 'hangs', '--reporter', 'plain');
      await running.until('[a] OK');
      silence();
      place.write('go', '');
      const { code, stdout } = await running.ended;
      expect(code).toBe(1);
      const silent = `Docker at ${host} does not answer`;
      expect(stdout).toContain(`[b] FAIL   the container of the run ended: ${silent}`);
      const [left] = await world.containersOf('hangs');
      expect(stdout).toContain(`container ${left?.Id.slice(0, 12)} could not be removed: ${silent};`);
      await world.docker.getContainer(left?.Id ?? '').remove({ force: true });
    });
  });

  test('is not needed by steps of other executors', () =>
    place(
      'container: {image: "no-such-image:1"}\nsteps:\n  - {name: a, executor: command, command: echo a}',
      async (place) => expect(await run(place)).toMatchObject({ code: 0, out: ['a: a'] }),
    ));

  test('is removed when the run is stopped, after its steps have ended', () =>
    place(
      `
container: {image: wf-test:1}
steps:
  - {name: a, command: "trap 'echo ended; exit 1' TERM; echo up; while :; do sleep 0.1; done"}
handlerOn:
  cancel: {command: echo still here}`,
      async (place) => {
        const running = place.start('run', 'w.yaml', '--reporter', 'plain');
        await running.until('| up');
        running.kill('SIGTERM');
        const { code, stdout } = await running.ended;
        const { runId } = await place.json('status', '@latest');
        expect({ code, left: await world.containersOf(runId) }).toEqual({ code: 143, left: [] });
        expect(stdout).toMatch(/\| ended[\s\S]*\| still here/);
      },
    ));

  test('that is not ready does not delay the end of a stopped run, and is removed', { timeout: 30_000 }, () =>
    place(
      `
container: {image: wf-test:1, waitFor: healthy, healthcheck: {test: ["false"], interval: 1s, retries: 1000}}
steps:
  - {name: a, command: echo never}`,
      async (place) => {
        const running = place.start('run', 'w.yaml', '--run-id', 'starting', '--reporter', 'plain');
        await untilStarted('starting');
        running.kill('SIGTERM');
        const { code, stdout } = await running.ended;
        expect({ code, left: await world.containersOf('starting') }).toEqual({ code: 143, left: [] });
        expect(stdout).not.toContain('| never');
      },
    ),
  );

  test('whose image is being pulled does not delay the end of a stopped run', { timeout: 30_000 }, async () => {
    let isAsked = false;
    // A registry that never finishes its answer.
    const registry = createServer((request, response) => {
      if (request.url === '/v2/') response.end();
      else isAsked = true;
    });
    registry.listen(0, '127.0.0.1');
    onTestFinished(() => {
      registry.closeAllConnections();
      registry.close();
    });
    await once(registry, 'listening');
    const image = `127.0.0.1:${(registry.address() as AddressInfo).port}/slow:1`;
    await place(`container: {image: "${image}"}\nsteps:\n  - {name: a, command: echo never}`, async (place) => {
      const running = place.start('run', 'w.yaml', '--reporter', 'plain');
      await until(() => isAsked);
      running.kill('SIGTERM');
      const { code, stdout } = await running.ended;
      expect(code).toBe(143);
      expect(stdout).not.toContain('| never');
    });
  });

  test('is removed after its owner was killed', () =>
    place('container: {image: wf-test:1}\nsteps:\n  - {name: a, command: echo up; sleep 60}', async (place) => {
      await crash(place, '| up', 'w.yaml', '--reporter', 'plain');
      const { runId, status, reason, warnings } = await place.json('status', '@latest');
      expect({ status, reason, warnings }).toEqual({ status: 'failed', reason: 'lost', warnings: [] });
      expect(await world.containersOf(runId)).toEqual([]);
    }));

  test('may be a running container, which continues', async () => {
    const name = `wf-app-${process.pid}`;
    const app = await world.docker.createContainer({ Image: 'wf-test:1', name, Cmd: ['sleep', '600'] });
    await app.start();
    try {
      await place(`container: ${name}\nsteps:\n  - {name: a, command: hostname}`, async (place) => {
        const { code, out, status } = await run(place);
        expect({ code, out, container: status.steps[0]?.container }).toEqual({
          code: 0,
          out: [`a: ${app.id.slice(0, 12)}`],
          container: { id: app.id, image: null },
        });
        expect((await app.inspect()).State.Running).toBe(true);
      });
    } finally {
      await app.remove({ force: true });
    }
  });
});
