import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { type Place, withPlace } from '../../support/past-runs.ts';
import { describeWith } from '../../support/require.ts';

describeWith('docker', hasDocker, '"container" of a step', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  /** Runs a workflow with these steps; `out` is what the steps printed. */
  const run = (steps: string, use: (place: Place) => Promise<void> = async () => {}) =>
    withPlace({ 'w.yaml': `env: [DOCKER_HOST: "${world.host}"]\nsteps:\n${steps}` }, async (place) => {
      await use(place);
      const { code, stdout } = await place.wf('run', 'w.yaml', '--reporter', 'plain');
      const out = stdout.split('\n').flatMap((line) => /^\S+ \[\S+\] +\| (.*)/.exec(line)?.[1] ?? []);
      return { code, stdout, out, status: await place.json('status', '@latest') };
    });

  test('runs the command in a new container, whose volumes are relative to the file', async () => {
    const { code, out } = await run(
      `
  - name: a
    dir: sub
    container:
      image: wf-test:1
      workingDir: /src
      env: {MODE: fast}
      volumes: [".:/src", "named:/data:ro"]
    command: 'echo $MODE; pwd; cat file; touch /data/x || echo read-only'`,
      async ({ write }) => write('sub/file', 'of the file\n'),
    );
    expect({ code, out: out.filter((line) => !line.includes('touch:')) }).toEqual({
      code: 0,
      out: ['fast', '/src/sub', 'of the file', 'read-only'],
    });
  });

  test('passes each command to its shell as one text', async () => {
    const { out } = await run(`
  - name: a
    env: [HOME: here]
    container: {image: wf-test:1, shell: [sh, -ec]}
    command: false; echo never
    continueOn: failed
  - name: b
    depends: a
    container: {image: wf-test:1, shell: [sh, -ec]}
    script: |
      echo $-`);
    expect(out).toHaveLength(1);
    expect(out[0]).toContain('e');
  });

  test('runs in a running container, once that is running', async () => {
    const name = `wf-late-${process.pid}`;
    const { code, out } = await run(
      `
  - name: late
    container: {image: wf-test:1, name: ${name}, volumes: [".:/shared"]}
    preconditions: sleep 0.5
    command: until [ -e /shared/go ]; do sleep 0.1; done
    timeoutSec: 50
  - name: inside
    container: ${name}
    command: 'echo in $WF_STEP; tr "\\0" "." </proc/1/cmdline | grep -o shared/go; touch /shared/go'`,
    );
    expect({ code, out }).toEqual({ code: 0, out: ['in inside', 'shared/go'] });
  });

  test('reports a mistake of a variable by its key', async () => {
    const { code, status } = await run(`
  - {name: a, env: [PORT: x], container: {image: wf-test:1, ports: ["$PORT:80"]}, command: echo}`);
    expect({ code, step: status.steps[0] }).toMatchObject({
      code: 1,
      step: { reason: 'error', error: '"ports" has "x:80", which is not a port such as 8080:80' },
    });
  });

  test('publishes ports on this machine only', async () => {
    const free = await freePort();
    await run(
      `
  - name: a
    container: {image: wf-test:1, name: wf-ports-${process.pid}, ports: ["${free}:80", "0.0.0.0:${free}:81"], keepContainer: true}
    command: "true"`,
    );
    const kept = world.docker.getContainer(`wf-ports-${process.pid}`);
    const { HostConfig } = await kept.inspect();
    await kept.remove();
    expect(HostConfig.PortBindings).toEqual({
      '80/tcp': [{ HostIp: '127.0.0.1', HostPort: String(free) }],
      '81/tcp': [{ HostIp: '0.0.0.0', HostPort: String(free) }],
    });
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
