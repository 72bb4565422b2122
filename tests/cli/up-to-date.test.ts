import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '#core/plan.ts';
import type { CacheSummary, RunSummary } from '#core/summary/summary.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

const steps = (...lines: readonly string[]) => `type: graph\nsteps:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
const make = (script: string) => JSON.stringify(`sh -c '${script}'`);
const build = (more = '') =>
  `{name: build, command: ${make('cat src/* > out; echo run >> runs; cat out')}, sources: src, generates: out${more}}`;
const files = { 'src/a': 'a\n', 'src/b': 'b\n' };
const runs = ({ cwd }: Pick<Place, 'cwd'>) => readFileSync(join(cwd, 'runs'), 'utf8').split('\n').length - 1;

/** Runs the workflow; returns the check of a step. */
async function check(place: Place, ...more: readonly string[]): Promise<CacheSummary | undefined> {
  await place.wf('run', 'a.yaml', ...more);
  const { steps: all } = await place.json<RunSummary>('status', 'a');
  return all[0]?.cache;
}

/** The reasons of a run in short; null if the step was up to date. */
async function reasons(place: Place, ...more: readonly string[]): Promise<readonly string[] | null> {
  const found = await check(place, ...more);
  if (found?.hit) return null;
  return (found?.reason ?? []).map(({ kind, name, change = 'changed' }) => `${kind} ${name} ${change}`);
}

describe('a step with sources', () => {
  it('is up to date until one of its inputs differs, and has its outputs', () =>
    withPlace(
      { ...files, 'a.yaml': steps(build(', output: OUT'), '{name: use, command: echo "got $OUT", depends: build}') },
      async (place) => {
        expect((await check(place))?.reason).toEqual([{ kind: 'missing', name: 'success' }]);
        const first = await place.json<RunSummary>('status', 'a');
        const { stdout } = await place.wf('run', 'a.yaml', '--reporter', 'plain');
        expect(stdout).toMatch(/\[build\] UP TO DATE of run [0-9a-f-]+, \d+\.\ds saved\n/);
        expect(stdout).toMatch(/\| got a\n.*\| b\n/);
        expect(stdout).toMatch(/ 1 succeeded · 1 up to date · \d+\.\ds saved\n$/);
        const { steps: all } = await place.json<RunSummary>('status', 'a');
        const saved = {
          hit: true,
          reason: [],
          from: first.runId,
          savedMs: first.steps[0]?.cache?.savedMs ?? expect.any(Number),
        };
        expect(all[0]).toMatchObject({
          status: 'succeeded',
          attempts: 0,
          exitCode: 0,
          outputs: { OUT: 'a\nb' },
          log: null,
        });
        expect(all[0]).toMatchObject({ upToDate: true, cache: saved });
        expect((await place.wf('logs', 'a', 'build')).stderr).toContain(
          `was up to date: its output is that of run ${first.runId}`,
        );
        expect(runs(place)).toBe(1);
      },
    ));

  const changes: readonly (readonly [
    what: string,
    expected: readonly string[] | null,
    change: (cwd: string) => void,
  ])[] = [
    ['a changed file', ['source src/a changed'], (cwd) => writeFileSync(join(cwd, 'src/a'), 'A\n')],
    ['a new file', ['source src/.c added'], (cwd) => writeFileSync(join(cwd, 'src/.c'), '')],
    ['a removed file', ['source src/b removed'], (cwd) => rmSync(join(cwd, 'src/b'))],
    [
      'a renamed file',
      ['source src/b removed', 'source src/c added'],
      (cwd) => renameSync(join(cwd, 'src/b'), join(cwd, 'src/c')),
    ],
    ['a file that can be executed', ['source src/a changed'], (cwd) => chmodSync(join(cwd, 'src/a'), 0o755)],
    ['the content behind a link', ['source src/link changed'], (cwd) => writeFileSync(join(cwd, 'other/x'), 'X\n')],
    [
      'another target of a link',
      ['source src/link changed'],
      (cwd) => {
        rmSync(join(cwd, 'src/link'));
        symlinkSync('../other/y', join(cwd, 'src/link'));
      },
    ],
    ['a missing generated file', ['output out changed'], (cwd) => rmSync(join(cwd, 'out'))],
    ['no other time', null, (cwd) => utimesSync(join(cwd, 'src/a'), 1, 1)],
    ['no equal content', null, (cwd) => writeFileSync(join(cwd, 'src/a'), 'a\n')],
    ['no empty directory', null, (cwd) => mkdirSync(join(cwd, 'src/empty'))],
  ];

  it.each(changes)('runs for %s', (_, expected, change) =>
    withPlace({ ...files, 'other/x': 'x\n', 'other/y': 'x\n', 'a.yaml': steps(build()) }, async (place) => {
      symlinkSync('../other/x', join(place.cwd, 'src/link'));
      await reasons(place);
      change(place.cwd);
      expect(await reasons(place)).toEqual(expected);
    }),
  );

  it('runs for another command and other values of the variables that it mentions, and no others', () =>
    withPlace(files, async (place) => {
      const write = (command: string, env: string, more = '') =>
        place.write(
          'a.yaml',
          `params: MODE=fast OTHER=x\n${steps(`{name: build, command: ${make(command)}, env: {LEVEL: "${env}"}, sources: src${more}}`)}`,
        );
      write('echo $MODE', '1');
      await reasons(place);
      expect(await reasons(place, '--', 'OTHER=y')).toBeNull();
      expect(await reasons(place, '--', 'MODE=slow')).toEqual(['variable MODE changed']);
      expect(await reasons(place)).toEqual(['variable MODE changed']);
      write('echo $MODE', '2');
      expect(await reasons(place)).toEqual(['variable LEVEL changed']);
      write('echo $MODE $HERE', '2');
      expect(await reasons(place)).toEqual(['command command changed', 'variable HERE added']);
      write('echo $MODE $HERE', '2', ', description: new, retryPolicy: {limit: 1}');
      expect(await reasons(place)).toBeNull();
    }));

  it('compares the times of sources with those of generated files by "timestamp"', () =>
    withPlace({ ...files, 'a.yaml': steps(build(', method: timestamp')) }, async (place) => {
      const at = (name: string, seconds: number) => utimesSync(join(place.cwd, name), seconds, seconds);
      for (const name of ['src/a', 'src/b']) at(name, 1000);
      await reasons(place);
      place.write('src/a', 'other\n');
      at('src/a', 2000);
      expect(await reasons(place)).toBeNull();
      at('src/a', Date.now() / 1000 + 60);
      expect(await reasons(place)).toEqual(['source src/a changed']);
    }));

  it('leaves files out by "!", and generated ones always', () =>
    withPlace(
      {
        ...files,
        'src/deps/x': 'x',
        'a.yaml': steps(
          `{name: build, command: ${make('date +%N > src/out')}, sources: [src, "!src/deps", "!**/b"], generates: src/out}`,
        ),
      },
      async (place) => {
        await reasons(place);
        place.write('src/deps/x', 'y');
        place.write('src/b', 'y');
        place.write('src/out', 'y');
        expect(await reasons(place)).toBeNull();
      },
    ));

  it('is checked for each instance of a fan-out', () =>
    withPlace(
      {
        ...files,
        'a.yaml': steps(
          `{name: each, parallel: [a, b], command: ${make('cat src/$ITEM')}, sources: src/$ITEM, output: TEXT}`,
        ),
      },
      async (place) => {
        await place.wf('run', 'a.yaml');
        place.write('src/b', 'other\n');
        await place.wf('run', 'a.yaml');
        const { steps: all } = await place.json<RunSummary>('status', 'a');
        expect(all[0]?.items?.map(({ cache, outputs }) => [cache?.hit, outputs])).toEqual([
          [true, { TEXT: 'a' }],
          [false, { TEXT: 'other' }],
        ]);
      },
    ));
});

describe('a step runs again', () => {
  it('after a failure, even if its sources are those of the success before', () =>
    withPlace(
      {
        ...files,
        'a.yaml': steps(
          `{name: build, command: ${make('cp src/a out; grep -q a src/a')}, sources: src, generates: out}`,
        ),
      },
      async (place) => {
        await reasons(place);
        place.write('src/a', 'x\n');
        expect(await reasons(place)).toEqual(['source src/a changed']);
        place.write('src/a', 'a\n');
        expect(await reasons(place)).toEqual(['missing attempt changed']);
        expect(readFileSync(join(place.cwd, 'out'), 'utf8')).toBe('a\n');
        expect(await reasons(place)).toBeNull();
      },
    ));

  it('after a crash', () =>
    withPlace(
      {
        ...files,
        'a.yaml': steps(`{name: build, command: ${make('echo up; test -e go || exec sleep 60')}, sources: src}`),
      },
      async (place) => {
        const running = place.start('run', 'a.yaml');
        await running.until('up');
        running.kill('SIGKILL');
        await running.ended;
        await place.json('status', 'a');
        place.write('go', '');
        expect(await reasons(place)).toEqual(['missing success changed']);
        expect(await reasons(place)).toBeNull();
      },
    ));

  it('if a source changed while it ran, or it generated nothing, and warns', () =>
    withPlace(
      {
        ...files,
        'a.yaml': steps(
          `{name: writes, command: ${make('date +%N >> src/a')}, sources: src}`,
          `{name: lazy, command: "true", sources: other, generates: none, depends: writes}`,
        ),
        other: '',
      },
      async (place) => {
        await reasons(place);
        expect((await place.json<RunSummary>('status', 'a')).warnings).toEqual([
          'writes: the step will run again: "src/a" changed while it ran',
          'lazy: the step will run again: it generated no file that matches "none"',
        ]);
        expect(await reasons(place)).toEqual(['missing success changed']);
      },
    ));

  it('with --force, which takes steps', () =>
    withPlace(
      {
        ...files,
        'a.yaml': steps(
          build(),
          '{name: other, id: o, command: "true", sources: src}',
          '{name: plain, command: "true"}',
        ),
      },
      async (place) => {
        await reasons(place);
        const hits = async () => (await place.json<RunSummary>('status', 'a')).steps.map(({ cache }) => cache?.hit);
        expect(await reasons(place, '--force')).toEqual(['forced  changed']);
        expect(await hits()).toEqual([false, false, undefined]);
        await place.wf('run', '--force', 'a.yaml');
        expect(await hits()).toEqual([false, false, undefined]);
        await place.wf('run', 'a.yaml', '--force', 'o');
        expect(await hits()).toEqual([true, false, undefined]);
        await place.wf('run', 'a.yaml', '--force=build', '--force', 'other');
        expect(await hits()).toEqual([false, false, undefined]);
        expect((await place.wf('run', 'a.yaml', '--force', 'none')).stderr).toContain('has no such step');
        expect((await place.wf('run', 'a.yaml', '--force', 'plain')).stderr).toContain('has no "sources"');
      },
    ));

  it('without a stored run, or a file', () =>
    withPlace({ ...files, 'a.yaml': steps(build()) }, async (place) => {
      for (let time = 0; time < 2; time++) await place.wf('run', 'a.yaml', '--no-history');
      expect(runs(place)).toBe(2);
    }));

  it('if an output has a secret', () => {
    const file = `secrets: [TOKEN]\n${steps(`{name: build, command: ${make('echo $TOKEN')}, sources: src, output: OUT}`)}`;
    return withPlace({ ...files, 'a.yaml': file }, async (place) => {
      const { wf } = await import('../support/wf.ts');
      const env = { ...place.env, TOKEN: 'hunter2hunter2' };
      await wf(['run', 'a.yaml'], { cwd: place.cwd, env });
      expect((await place.json<RunSummary>('status', 'a')).warnings).toEqual([
        'build: the step will run again: its output "OUT" contains a secret',
      ]);
    });
  });
});

describe('before a run', () => {
  it('wf dry and wf why say what a run would', () =>
    withPlace({ ...files, 'a.yaml': steps(build(), '{name: plain, command: "true"}') }, async (place) => {
      const planned = async () =>
        (await place.json<Plan>('dry', 'a.yaml')).steps.map(({ cache }) => [cache?.hit, cache?.reason]);
      const why = async (...more: readonly string[]) => (await place.wf('why', 'a.yaml', 'build', ...more)).stdout;
      expect(await planned()).toEqual([
        [false, [{ kind: 'missing', name: 'success' }]],
        [undefined, undefined],
      ]);
      expect(existsSync(join(place.runsDir, '../fingerprints'))).toBe(false);
      expect(await why()).toBe('"build" would run:\n  no earlier success\n');
      await reasons(place);
      const { runId } = await place.json<RunSummary>('status', 'a');
      expect(await why()).toBe(`"build" is up to date as of run ${runId}\n`);
      expect((await place.wf('dry', 'a.yaml')).stdout).toContain('(up to date as of run ');
      for (let number = 0; number < 12; number++) place.write(`src/new${number + 10}`, '');
      expect((await place.wf('dry', 'a.yaml')).stdout).toContain('(would run: src/new10 is new, 11 more)');
      const lines = (await why()).split('\n');
      expect(lines[0]).toBe(`"build" would run, compared with its success in run ${runId}:`);
      expect([lines.length, lines[12]]).toEqual([14, '  src/new21 is new']);
      expect(await reasons(place)).toHaveLength(10);
      expect((await place.wf('why', 'a.yaml', 'plain')).stderr).toContain('has no "sources"');
      expect((await place.wf('why', 'a.yaml', 'none')).stderr).toContain('has no step "none"');
    }));

  it('wf dry does not guess what only a run knows', () => {
    const make = (command: string) => `{name: build, command: ${command}, sources: src, depends: first}`;
    const first = '{name: first, command: echo 1, output: ONE}';
    return withPlace({ ...files, 'a.yaml': steps(make('echo $ONE'), first) }, async (place) => {
      await place.wf('run', 'a.yaml');
      const cache = async () => (await place.json<Plan>('dry', 'a.yaml')).steps[0]?.cache;
      expect(await cache()).toMatchObject({ hit: null, reason: [] });
      place.write('src/a', 'x');
      expect(await cache()).toMatchObject({ hit: false, reason: [{ kind: 'source', name: 'src/a' }] });
      place.write('a.yaml', steps(`{name: build, command: "true", sources: src, env: {T: "$(date +%s)"}}`));
      await place.wf('run', 'a.yaml');
      expect(await cache()).toMatchObject({ hit: null, reason: [] });
      rmSync(join(place.cwd, 'src'), { recursive: true });
      expect(await cache()).toMatchObject({ hit: null, problem: 'no file matches "src" of "sources"' });
    });
  });
});

describe('sources', () => {
  it('without a match, or outside of the directory, fail the step', () =>
    withPlace(
      {
        'a.yaml': steps(
          `{name: none, command: "true", sources: [a.yaml, "x/**"]}`,
          `{name: outside, command: "true", env: {UP: ..}, sources: $UP/x}`,
        ),
      },
      async (place) => {
        await place.wf('run', 'a.yaml');
        const { steps: all } = await place.json<RunSummary>('status', 'a');
        expect(all.map(({ error }) => error)).toEqual([
          'no file matches "x/**" of "sources"',
          '"../x" is not below the directory of the step',
        ]);
      },
    ));

  it('leave no hash of a value that can be guessed, and no value', () => {
    const file = `secrets: [TOKEN]\n${steps(`{name: build, command: ${make('test -n $TOKEN')}, sources: src}`)}`;
    return withPlace({ ...files, 'a.yaml': file }, async (place) => {
      const { wf } = await import('../support/wf.ts');
      const run = (Token: string) => wf(['run', 'a.yaml'], { cwd: place.cwd, env: { ...place.env, TOKEN: Token } });
      const stored = () => {
        const root = join(place.runsDir, '../fingerprints');
        const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
        return names.map((name) => readFileSync(join(root, name), 'utf8'));
      };
      await run('hunter2hunter2');
      const [before = ''] = stored();
      const { createHash } = await import('node:crypto');
      expect(before).toContain('"TOKEN"');
      expect(before).not.toContain('hunter2');
      expect(before).not.toContain(createHash('sha256').update('hunter2hunter2').digest('hex'));
      await run('other-other-other');
      expect((await place.json<RunSummary>('status', 'a')).steps[0]?.cache?.reason).toEqual([
        { kind: 'variable', name: 'TOKEN' },
      ]);
    });
  });

  it('are compared again if what is stored is damaged', () =>
    withPlace({ ...files, 'a.yaml': steps(build()) }, async (place) => {
      await reasons(place);
      const root = join(place.runsDir, '../fingerprints');
      const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
      for (const name of names.filter((found) => /\.(json|hashes)$/.test(found))) writeFileSync(join(root, name), 'x');
      expect(await reasons(place)).toEqual(['missing success changed']);
      const [warning = ''] = (await place.json<RunSummary>('status', 'a')).warnings;
      expect(warning).toMatch(/^build: the fingerprint of the last success is dropped: ".+\.json" is damaged$/);
      expect(await reasons(place)).toBeNull();
    }));
});

it('two runs of a step at the same time leave no success', () =>
  withPlace(
    {
      ...files,
      'a.yaml': steps(
        `{name: build, command: ${make('echo up; while ! test -e go; do sleep 0.02; done')}, sources: src}`,
      ),
    },
    async (place) => {
      const both = [place.start('run', 'a.yaml'), place.start('run', 'a.yaml')];
      for (const each of both) await each.until('up');
      place.write('go', '');
      for (const each of both) await each.ended;
      const last = await check(place);
      expect([last?.hit, last?.reason[0]?.kind]).toEqual([false, 'missing']);
    },
  ));
