import { describe, expect, it } from 'vitest';
import { stepOf, workflowOf } from './load-text.ts';

/** The command of a step with this container, and its location. */
function builtFrom(lines: string) {
  const { executor, dir } = stepOf(`command: echo\n${lines}`);
  return { executor, dir };
}

describe('the container of a step', () => {
  it('is converted to the docker executor with equivalent settings', () => {
    expect(
      builtFrom(`
container:
  image: node:22
  pull_policy: true
  name: build
  platform: linux/amd64
  env: {MODE: fast}
  user: "1000"
  workingDir: /src/
  volumes: [".:/src"]
  ports: [8080:80]
  network: backend
  restartPolicy: on-failure:3
  keepContainer: yes
  healthcheck: {test: ./check, interval: 1m30s, timeout: 2s, startPeriod: 3, retries: 4}
  shell: [bash, -c]
dir: sub`),
    ).toEqual({
      dir: null,
      executor: {
        type: 'docker',
        config: {
          image: 'node:22',
          pull: 'always',
          containerName: 'build',
          platform: 'linux/amd64',
          autoRemove: false,
          container: {
            env: { MODE: 'fast' },
            user: '1000',
            workingDir: '/src/sub',
            healthcheck: {
              Test: ['CMD-SHELL', './check'],
              Interval: 90e9,
              Timeout: 2e9,
              StartPeriod: 3e9,
              Retries: 4,
            },
          },
          host: {
            binds: ['.:/src'],
            networkMode: 'backend',
            restartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 },
          },
          ports: ['8080:80'],
          fileDir: '/',
          shell: ['bash', '-c'],
        },
      },
    });
  });

  it('has only the given settings', () => {
    expect(builtFrom('container: {image: alpine}')).toEqual({
      dir: null,
      executor: { type: 'docker', config: { image: 'alpine', fileDir: '/' } },
    });
  });

  it.each([
    ['container: app', {}],
    [
      'container: {exec: app, user: root, env: [A=1]}\ndir: /x',
      { exec: { env: ['A=1'], user: 'root', workingDir: '/x' } },
    ],
  ])('is a running one that the command waits for: %j', (lines, own) => {
    const config = { containerName: 'app', waitSec: 120, ...own };
    expect(builtFrom(lines)).toEqual({ dir: null, executor: { type: 'docker', config } });
  });

  it.each([
    ['workingDir: /w', 'dir: a', '/w/a'],
    ['workingDir: /w', 'dir: /a', '/a'],
    ['workingDir: /w', 'dir: $A', '$A'],
    ['workingDir: /w', 'args: []', '/w'],
    ['user: u', 'dir: a', 'a'],
  ])('with %s and %s runs in %s', (own, dir, inside) => {
    const { config } = stepOf(`command: echo\ncontainer: {image: i, ${own}}\n${dir}`).executor;
    expect(config['container']).toMatchObject({ workingDir: inside });
  });
});

describe('the container of a workflow', () => {
  it('belongs to commands and scripts without an executor, and sleeps', () => {
    const { container, steps, handlers } = workflowOf(`
container: {image: i, workingDir: /w, shell: bash}
steps:
  - {name: a, command: echo, dir: sub}
  - {name: b, script: echo}
  - {name: c, executor: command, command: echo, dir: sub}
  - {name: d, container: {image: j}, command: echo}
handlerOn:
  exit: {command: echo}
`);
    expect(container).toEqual({
      image: 'i',
      container: { workingDir: '/w', entrypoint: ['sleep'], cmd: ['2147483647'] },
      fileDir: '/',
      shell: ['bash'],
      isIdle: true,
    });
    expect([...steps, handlers.exit].map((made) => [made?.executor, made?.dir])).toEqual([
      [{ type: 'docker', config: { shared: true, dir: 'sub' } }, null],
      [{ type: 'docker', config: { shared: true } }, null],
      [{ type: 'command', config: {} }, 'sub'],
      [{ type: 'docker', config: { image: 'j', fileDir: '/' } }, null],
      [{ type: 'docker', config: { shared: true } }, null],
    ]);
  });

  it.each([
    ['startup: entrypoint, waitFor: healthy, logPattern: up', { waitFor: 'healthy', logPattern: 'up' }],
    ['command: [serve, x]', { container: { cmd: ['serve', 'x'] } }],
  ])('has its own process with %s', (keys, own) => {
    const { container } = workflowOf(`container: {image: i, ${keys}}\nsteps: [{name: a, command: b}]`);
    expect(container).toEqual({ image: 'i', fileDir: '/', ...own });
  });

  it('is not created if it is already running', () => {
    const { container, steps } = workflowOf('container: app\nsteps: [{name: a, command: b, dir: /x}]');
    expect([container, steps[0]?.executor.config]).toEqual([
      undefined,
      { containerName: 'app', waitSec: 120, exec: { workingDir: '/x' } },
    ]);
  });
});
