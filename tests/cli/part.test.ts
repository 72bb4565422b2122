import { expect, it } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';

const file = `type: graph
params: ENV=dev
steps:
  - name: db
    service:
      readyWhen: {line: up}
    command: sh -c "echo up; sleep 600"
  - name: build
    command: echo building
  - name: test
    id: unit
    command: test ! -e fail
    depends: build
  - name: e2e
    command: echo e2e
    depends: [test, db]
  - name: a,b
    command: echo comma
  - name: deploy
    command: test ! -e fail-deploy
    depends: e2e
`;

const all = ['db', 'build', 'test', 'e2e', 'a,b', 'deploy'];

const withFile = (test: (place: Place) => Promise<void>) => withPlace({ 'w.yaml': file }, test);

/** The steps of a run that ran, and the status of the run. */
async function ran({ json }: Place, run: string): Promise<readonly [readonly string[], string]> {
  const { steps, status } = await json('status', run);
  return [steps.filter(({ attempts }) => attempts > 0).map(({ name }) => name), status];
}

it.each([
  [
    ['--only', 'test'],
    ['build', 'test'],
  ],
  [
    ['--only', 'unit'],
    ['build', 'test'],
  ],
  [['--only', 'build,a,b'], null],
  [
    ['--only', 'build', '--only', 'a,b'],
    ['build', 'a,b'],
  ],
  [
    ['--only', 'e2e'],
    ['db', 'build', 'test', 'e2e'],
  ],
  [['--only', 'db'], ['db']],
  [
    ['--skip', 'e2e'],
    ['build', 'test', 'a,b', 'deploy'],
  ],
  [
    ['--skip', 'e2e, build'],
    ['test', 'a,b', 'deploy'],
  ],
  [
    ['--skip', 'db'],
    ['build', 'test', 'e2e', 'a,b', 'deploy'],
  ],
  [
    ['--only', 'deploy', '--skip', 'e2e'],
    ['build', 'test', 'deploy'],
  ],
])('runs the steps that %j selects', async (words, expected) => {
  await withFile(async (place) => {
    const { code, stderr } = await place.wf('run', ...words, '--run-id', 'r');
    if (expected === null) {
      expect([code, stderr]).toEqual([2, expect.stringContaining('the workflow has no step "a"\n')]);
      return;
    }
    expect(await ran(place, 'r')).toEqual([expected, 'succeeded']);
    const { stdout } = await place.wf('dry', ...words);
    const out = stdout.split('\n').flatMap((line) => /^ {2}(\S+) .*would be skipped: left out/.exec(line)?.[1] ?? []);
    expect(out.sort()).toEqual(all.filter((name) => !expected.includes(name)).sort());
  });
});

it('shows which steps are left out, and which run without them', async () => {
  await withFile(async ({ wf }) => {
    const { stdout, stderr } = await wf('run', '--skip', 'e2e', '--run-id', 'r');
    expect(stderr).toBe('wf: "deploy" runs without "e2e"\n');
    expect(stdout).toContain('[e2e]    SKIP   left out\n');
    expect((await wf('status', 'r')).stdout).toMatch(/e2e +left out\n/);
  });
});

it('does not start what depends on a failed step through one that is left out', async () => {
  await withFile(async (place) => {
    place.write('fail', '');
    const { stdout, code } = await place.wf('run', '--skip', 'e2e', '--run-id', 'r');
    expect(code).toBe(1);
    expect(stdout).toContain('[deploy] NOTRUN "test" failed\n');
  });
});

it('keeps the selection in retries and restarts', async () => {
  await withFile(async (place) => {
    const { wf, write } = place;
    write('fail-deploy', '');
    await wf('run', '--skip', 'e2e,a,b,e2e', '--run-id', 'none');
    await wf('run', '--skip', 'e2e', '--skip', 'a,b', '--run-id', 'r1');
    expect(await ran(place, 'r1')).toEqual([['build', 'test', 'deploy'], 'failed']);
    await wf('retry', 'r1', '--run-id', 'r2');
    expect(await ran(place, 'r2')).toEqual([['deploy'], 'failed']);
    write('w.yaml', file.replace('! -e fail-deploy', '-e fail-deploy'));
    await wf('retry', 'r2', '--file', '--run-id', 'r3');
    expect(await ran(place, 'r3')).toEqual([['deploy'], 'succeeded']);
    await wf('restart', 'r3', '--run-id', 'r4');
    expect(await ran(place, 'r4')).toEqual([['build', 'test', 'deploy'], 'succeeded']);
    await wf('retry', 'r4', '--step', 'a,b', '--run-id', 'r5');
    expect(await ran(place, 'r5')).toEqual([['a,b'], 'succeeded']);
    expect((await wf('retry', 'r5')).stdout).toContain('nothing to do');
  });
});

it('runs a part in the background', async () => {
  await withFile(async (place) => {
    const { stdout } = await place.wf('run', '--detach', '--only', 'build');
    await place.wf('logs', '-f', stdout.trim());
    expect(await ran(place, stdout.trim())).toEqual([['build'], 'succeeded']);
  });
});

it.each([
  [['--only', 'biuld'], 'the workflow has no step "biuld"\n  help: did you mean "build"?'],
  [['--skip', 'build[1]'], 'the workflow has no step "build[1]"'],
  [['--skip', 'db,build', '--only', 'build'], 'no step is left to run'],
  [['--only', 'build', '--server', 'http://127.0.0.1:1'], '--only works only for local runs'],
  [['--skip', 'build', '--server', 'http://127.0.0.1:1'], '--skip works only for local runs'],
])('refuses %j', async (words, message) => {
  await withFile(async ({ wf }) => {
    const { code, stdout, stderr } = await wf('run', 'w.yaml', ...words);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`error: ${message}`)]);
  });
});

it.each([
  ['w.yaml', 'test'],
  ['w.yaml', 'unit'],
])('a parameter of %s that is the step %s is refused with --only', (name, step) =>
  withFile(async ({ wf, write }) => {
    write('w.yaml', file.replace('params: ENV=dev\n', ''));
    for (const command of ['run', 'dry']) {
      const { code, stderr } = await wf(command, name, step);
      expect([code, stderr]).toEqual([
        2,
        `error: "${step}" is a step, and the workflow takes no parameters by position\n  help: --only ${step} runs that step and what it needs\n`,
      ]);
    }
  }),
);

it('a parameter that is the name of a step has a warning where parameters are taken by position', () =>
  withFile(async ({ wf }) => {
    const warning =
      'wf: "build" is a parameter here, and the name of a step: --only build runs that step and what it needs\n';
    expect((await wf('dry', 'w.yaml', 'build')).stderr).toBe(warning);
    expect((await wf('dry', 'w.yaml', 'build', '--only', 'build')).stderr).toBe('');
    expect((await wf('dry', 'w.yaml', '-p', 'ENV=build')).stderr).toBe('');
    expect((await wf('dry', 'w.yaml', 'prod')).stderr).toBe('');
  }));
