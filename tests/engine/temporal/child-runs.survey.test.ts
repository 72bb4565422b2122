import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { playLocally, playOnEngine, type Scenario } from '../../support/loopback/both-hosts.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, temporalWorld } from '../../support/temporal.ts';

const leaf = `
params: "WHO=nobody COUNT=1"
steps:
  - {name: greet, command: 'echo "hello $WHO, $COUNT"', output: GREETING}
`;

const scenarios: Readonly<Record<string, Scenario['files']>> = {
  'a file beside it, with parameters and outputs': {
    'workflow.yaml': `
params: NAME=ann
steps:
  - name: child
    run: leaf
    params: 'WHO="$NAME $EXTRA" COUNT=2'
    env: [{EXTRA: "\`echo extra\`"}]
    output: RESULT
  - {name: after, command: 'echo "\${RESULT.outputs.GREETING}"', depends: child}
`,
    'leaf.yaml': leaf,
  },
  'children of children with one slot, and with items': {
    'workflow.yaml': `
steps:
  - {name: top, run: middle, output: TOP}
  - {name: each, run: leaf, params: WHO=$ITEM, parallel: {items: [x, y], maxConcurrent: 1}}
handlerOn: {exit: {run: leaf, params: WHO=exit}}
`,
    'middle.yaml': `
steps: [{name: below, run: low, output: LOW}]
---
name: low
steps: [{name: lowest, run: leaf, params: WHO=low}]
`,
    'leaf.yaml': leaf,
  },
  'a failure, a retry and what cannot be run': {
    'workflow.yaml': `
env: [{GONE: nothing}, {SELF: workflow}, {BROKEN: broken}]
steps:
  - {name: flaky, run: fails, retryPolicy: {limit: 1, intervalSec: 0}, continueOn: {failure: true}}
  - {name: missing, run: $GONE, continueOn: {failure: true}}
  - {name: invalid, run: $BROKEN, continueOn: {failure: true}}
  - {name: wrong, run: closed, params: $GONE, continueOn: {failure: true}}
  - {name: circle, run: $SELF, continueOn: {failure: true}}
  - {name: skipped, run: leaf, preconditions: [{condition: "1", expected: "2"}]}
`,
    'fails.yaml': `
steps: [{name: breaks, command: 'sh -c "echo why; exit 3"'}]
handlerOn: {failure: {command: echo handled}}
`,
    'broken.yaml': 'steps: {}',
    'closed.yaml': `
runConfig: {disableParamEdit: true}
steps: [{name: never, command: echo never}]
`,
    'leaf.yaml': leaf,
  },
  'a time limit of the step': {
    'workflow.yaml': `
steps: [{name: limited, run: slow, timeoutSec: 1.5}]
`,
    'slow.yaml': `
steps: [{name: sleeps, command: sleep 60}]
handlerOn: {cancel: {command: echo cleaned}}
`,
  },
  'a repetition': {
    'workflow.yaml': `
steps: [{name: again, run: leaf, repeatPolicy: {limit: 2, intervalSec: 0}, output: LAST}]
`,
    'leaf.yaml': leaf,
  },
};

const slow = {
  'workflow.yaml': 'steps: [{name: child, run: middle}]',
  'middle.yaml': 'steps: [{name: below, run: slow}]',
  'slow.yaml': `
steps: [{name: sleeps, command: sleep 61}]
handlerOn: {cancel: {command: echo cleaned}}
`,
};

describeWith('temporal', hasTemporal, 'child runs on Temporal', () => {
  let worker: StartedWorker;
  const world = temporalWorld(async (server) => {
    worker = await server.worker('one', { args: ['--slots', '1'] });
  });

  it.each(Object.entries(scenarios))('go as they go here: %s', async (_, files) => {
    expect(await playOnEngine({ files }, world.server.url)).toEqual(await playLocally({ files }));
  });

  it('stop with the run that runs them, and their handlers run', async () => {
    const { start, runs } = place(slow);
    const run = start();
    await run.until('[child > below > sleeps] START');
    run.kill('SIGINT');
    const { stdout } = await run.ended;
    expect(stdout).toContain('[child > below > handlerOn.cancel] | cleaned');
    expect(await runs()).toEqual({ middle: ['canceled'], slow: ['canceled'], workflow: ['canceled'] });
  });

  it('are killed with it', async () => {
    const { start, runs } = place({
      ...slow,
      'slow.yaml': `steps: [{name: sleeps, script: "trap '' TERM; sleep 62"}]`,
    });
    const run = start();
    await run.until('[child > below > sleeps] START');
    run.kill('SIGINT');
    await run.until('STOP');
    run.kill('SIGINT');
    await run.ended;
    expect(await runs()).toEqual({ middle: ['canceled'], slow: ['canceled'], workflow: ['canceled'] });
  });

  it('are retried with the run, and keep what succeeded', async () => {
    const { cwd, call, start, runs } = place({
      'workflow.yaml': 'steps: [{name: child, run: middle}]',
      'middle.yaml': 'steps: [{name: below, run: low}]',
      'low.yaml': `
steps: [{name: first, command: echo once, output: A}, {name: second, script: 'test -e $FLAG', depends: first}]
env: [{FLAG: ${join(world.directory, 'flag')}}]
`,
    });
    await start().ended;
    writeFileSync(join(world.directory, 'flag'), '');
    const { stdout } = await call('retry', '@latest', '--reporter', 'plain');
    expect(stdout).toContain('[child > below > first] KEPT');
    expect(await runs()).toEqual({
      low: ['failed', 'succeeded'],
      middle: ['failed', 'succeeded'],
      workflow: ['failed', 'succeeded'],
    });
    expect(readdirSync(cwd).sort()).toEqual(['home', 'low.yaml', 'middle.yaml', 'workflow.yaml']);
  });

  it('are copied with a run that no process here follows', async () => {
    const { cwd, call, runs } = place({ ...slow, 'slow.yaml': leaf });
    const id = (await call('run', 'workflow.yaml', '--engine', world.server.url, '--detach')).stdout.trim();
    await expect.poll(async () => (await call('status', id)).stdout, { timeout: 20_000 }).toContain('SUCCEEDED');
    expect(await runs()).toEqual({ middle: ['succeeded'], slow: ['succeeded'], workflow: ['succeeded'] });
    const other = join(cwd, 'other');
    world.place({}, { WF_HOME: other }).start('serve', '--engine', world.server.url, '--port', '0');
    const journals = (home: string) =>
      Object.fromEntries(
        idsIn(join(cwd, 'home')).map((run) => [run, tryRead(join(home, 'runs', run, 'journal.jsonl'))]),
      );
    await expect.poll(() => journals(other), { timeout: 20_000 }).toEqual(journals(join(cwd, 'home')));
  });

  it('mask the secrets of the run that runs them', async () => {
    const { cwd, start } = place({
      'workflow.yaml': `
env: [{TOKEN: "\`echo s3cr3t-of-parent\`"}]
secrets: [TOKEN]
steps: [{name: child, run: shows, params: SHOWN=$TOKEN}]
`,
      'shows.yaml': 'params: SHOWN=\nsteps: [{name: shows, command: echo $SHOWN}]',
    });
    const { code, stdout } = await start().ended;
    expect({ code, isMasked: stdout.includes('| ***') }).toEqual({ code: 0, isMasked: true });
    const stored = readdirSync(join(cwd, 'home'), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const texts = stored.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    expect(texts.filter((text) => text.includes('s3cr3t-of-parent'))).toEqual([]);
  });

  it.each([
    ['a name that the run sets', '{name: child, run: $LATER}', 'which sets "$LATER"'],
    [
      'a key that is not supported in a child',
      '{name: child, run: keeps}',
      '"sources" of step "a" of workflow "keeps"',
    ],
  ])('are refused before the run starts: %s', async (_, step, message) => {
    const { start, runs } = place({
      'workflow.yaml': `env: [{LATER: "\`echo x\`"}]\nsteps: [${step}]`,
      'keeps.yaml': 'steps: [{name: a, command: echo, sources: keeps.yaml}]',
    });
    const { code, stdout } = await start().ended;
    expect({ code, isNamed: stdout.includes(message), runs: await runs() }).toEqual({
      code: 2,
      isNamed: true,
      runs: {},
    });
  });

  // Last, since the server gives orders to a dead worker for a while.
  it('continue when the worker is killed that made the attempt of their step', { timeout: 180_000 }, async () => {
    const gate = join(world.directory, 'gate-of-kill');
    const { start, runs } = place({
      'workflow.yaml': 'steps: [{name: child, run: waits}, {name: after, command: echo, depends: child}]',
      'waits.yaml': `
steps:
  - {name: waits, script: 'until test -e ${gate}; do sleep 0.1; done', retryPolicy: {limit: 2, intervalSec: 0}}
`,
    });
    const run = start('--lost-after', '2');
    await run.until('[child > waits] START');
    worker.kill('SIGKILL');
    await worker.ended;
    writeFileSync(gate, '');
    worker = await world.server.worker('two', { args: ['--slots', '1'] });
    const { code } = await run.ended;
    expect({ code, runs: await runs() }).toEqual({
      code: 0,
      runs: { waits: ['succeeded'], workflow: ['succeeded'] },
    });
  });

  /** A directory with workflows, and `wf` in it; the first command names the engine. */
  function place(files: Readonly<Record<string, string>>) {
    const { cwd, call, start } = world.place(files);
    const options = ['--engine', world.server.url, '--reporter', 'plain'];
    return {
      cwd,
      call,
      start: (...more: readonly string[]) => start('run', 'workflow.yaml', ...options, ...more),
      /** The statuses of the stored runs, oldest first, by their workflows. */
      runs: async (): Promise<Readonly<Record<string, readonly string[]>>> => {
        const { stdout } = await call('history', '--any', '--json');
        const found: Record<string, string[]> = {};
        for (const { workflow, status } of (JSON.parse(stdout) as readonly Summary[]).toReversed())
          found[workflow] = [...(found[workflow] ?? []), status];
        return found;
      },
    };
  }
});

type Summary = { readonly workflow: string; readonly status: string };

function idsIn(home: string): readonly string[] {
  return readdirSync(join(home, 'runs')).filter((name) => /^[0-9a-f]{8}-/.test(name));
}

function tryRead(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
