import { describe, expect, it } from 'vitest';
import { stepOf } from './load-text.ts';

/** What a step with this container runs, and where. */
function builtFrom(lines: string) {
  const { executor, dir } = stepOf(`command: echo\n${lines}`);
  return { executor, dir };
}

describe('the container of a step', () => {
  it('is the docker executor with the settings that the keys stand for', () => {
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

  it('has only what is given', () => {
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
