import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { withPlace } from '../../support/past-runs.ts';
import { describeWith } from '../../support/require.ts';

describeWith('docker', hasDocker, 'a service in a container', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  /** Runs a workflow with these keys; `left` are the containers of the run afterwards. */
  const run = (text: string) =>
    withPlace({ 'w.yaml': `env: [DOCKER_HOST: "${world.host}"]\nMaxCleanUpTimeSec: 5\n${text}` }, async (place) => {
      const { code, stdout } = await place.wf('run', 'w.yaml', '--reporter', 'plain');
      const status = await place.json('status', '@latest');
      const left = await world.containersOf(status.runId);
      return { code, stdout, status, left, steps: status.steps.map(({ name, status }) => `${name} ${status}`) };
    });

  const loop = 'trap exit TERM; while :; do sleep 0.05; done';

  test('is ready when its port answers', async () => {
    const port = await freePort();
    const { code, steps, left, status } = await run(`
steps:
  - name: web
    service: {readyWhen: {port: ${port}}, intervalSec: 0.1}
    container: {image: wf-test:1, network: host, command: [httpd, -f, -p, "127.0.0.1:${port}"]}
    signalOnStop: SIGKILL
  - {name: test, depends: web, command: echo tested}`);
    expect({ code, steps, left }).toEqual({ code: 0, steps: ['web succeeded', 'test succeeded'], left: [] });
    expect(status.steps[0]).toMatchObject({ service: { ready: true }, container: { image: 'wf-test:1' } });
  });

  test('is ready when it is healthy, or has printed a line', async () => {
    const { code, steps, left } = await run(`
steps:
  - name: a
    service: {readyWhen: {healthy: true}, intervalSec: 0.1}
    container:
      image: wf-test:1
      healthcheck: {test: [test, -f, /tmp/up], interval: 0.2s}
    command: 'sleep 0.2; touch /tmp/up; ${loop}'
  - name: b
    service: true
    depends: a
    container: {image: wf-test:1, command: [sh, -c, 'echo up; ${loop}'], logPattern: ^up$}
  - {name: c, depends: b, command: echo c}`);
    expect({ code, steps, left }).toEqual({ code: 0, steps: ['a succeeded', 'b succeeded', 'c succeeded'], left: [] });
  });

  test('may run in the container of the workflow', async () => {
    const { code, steps, left } = await run(`
container: {image: wf-test:1}
steps:
  - {name: a, service: {readyWhen: {line: up}, intervalSec: 0.1}, command: 'echo > /tmp/a; echo up; ${loop}'}
  - {name: b, depends: a, command: cat /tmp/a}`);
    expect({ code, steps, left }).toEqual({ code: 0, steps: ['a succeeded', 'b succeeded'], left: [] });
  });

  test('without a health check is never healthy', async () => {
    const { status, left } = await run(`
steps:
  - name: a
    service: {readyWhen: {healthy: true}, intervalSec: 0.1, timeoutSec: 0.3}
    container: {image: wf-test:1}
    command: '${loop}'`);
    const error = 'not ready within 0.3s: the container has no health check';
    expect({ step: status.steps[0], left }).toMatchObject({ step: { reason: 'unready', error }, left: [] });
  });
});

/** A port of this machine that nothing listens at. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
