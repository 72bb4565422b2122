import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan, StepWhy } from '#core/plan.ts';
import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { wf } from '../support/wf.ts';

const script = (text: string) => JSON.stringify(text);
/** A step that counts in `runs` how often it has run. */
const build = (more = '', text = 'mkdir -p out; cat src/* > out/all; cat out/all') =>
  `steps:\n  - {name: build, script: ${script(`echo run >> runs; ${text}`)}, sources: src, generates: out, output: OUT, cache: true${more}}\n`;
const files = { 'src/a': 'a\n', 'a.yaml': build() };
const runs = ({ cwd }: Pick<Place, 'cwd'>) => readFileSync(join(cwd, 'runs'), 'utf8').split('\n').length - 1;
const cache = ({ runsDir }: Pick<Place, 'runsDir'>) => join(runsDir, '../results');
const entries = (place: Place) =>
  existsSync(join(cache(place), 'entries')) ? readdirSync(join(cache(place), 'entries')) : [];
const contents = (place: Place) =>
  readdirSync(join(cache(place), 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Runs the workflow; returns its only step. */
async function run(place: Place, ...more: readonly string[]): Promise<StepSummary & { warnings: readonly string[] }> {
  await place.wf('run', 'a.yaml', ...more);
  const { steps, warnings } = await place.json<RunSummary>('status', 'a');
  const [step] = steps;
  if (step === undefined) throw new Error('the run has no step');
  return { ...step, warnings };
}

/** Runs with other sources and returns to the first ones; returns the id of the run with these. */
async function withEarlier(place: Place): Promise<string> {
  await run(place);
  const { runId } = await place.json<RunSummary>('status', 'a');
  place.write('src/a', 'other\n');
  await run(place);
  place.write('src/a', 'a\n');
  return runId;
}

describe('a step with a cache', () => {
  it('restores files, links and outputs of any earlier success with the same inputs', () => {
    const make =
      'mkdir -p out/bin; cat src/* > out/all; cp out/all out/bin/tool; chmod +x out/bin/tool; ln -sfn bin/tool out/link; cat out/all';
    return withPlace({ 'src/a': 'a\n', 'a.yaml': build('', make) }, async (place) => {
      const { cwd } = place;
      const first = await withEarlier(place);
      writeFileSync(join(cwd, 'out/mine'), 'mine');
      chmodSync(join(cwd, 'out/bin/tool'), 0o644);
      rmSync(join(cwd, 'out/link'));
      const why = await place.json<StepWhy>('why', 'a.yaml', 'build');
      expect(why).toMatchObject({ step: 'build', hit: true, restored: true, from: first });
      expect(why.reason).toEqual(
        [
          { kind: 'source', name: 'src/a' },
          { kind: 'output', name: 'out' },
        ].slice(0, 1),
      );
      const { steps } = await place.json<Plan>('dry', 'a.yaml');
      expect(steps[0]?.cache).toMatchObject({ hit: true, restored: true, from: first });
      const { stdout } = await place.wf('run', 'a.yaml', '--reporter', 'plain');
      expect(stdout).toMatch(/\[build\] UP TO DATE restored from run [0-9a-f-]+, \d+\.\ds saved\n/);
      const { steps: all } = await place.json<RunSummary>('status', 'a');
      expect(all[0]).toMatchObject({
        status: 'succeeded',
        attempts: 0,
        outputs: { OUT: 'a' },
        upToDate: true,
        cache: { hit: true, restored: true, from: first },
      });
      expect(readFileSync(join(cwd, 'out/all'), 'utf8')).toBe('a\n');
      expect(lstatSync(join(cwd, 'out/bin/tool')).mode & 0o111).toBe(0o111);
      expect(lstatSync(join(cwd, 'out/all')).mode & 0o111).toBe(0);
      expect(readlinkSync(join(cwd, 'out/link'))).toBe('bin/tool');
      expect(readFileSync(join(cwd, 'out/mine'), 'utf8')).toBe('mine');
      expect(runs(place)).toBe(2);
      const again = await run(place);
      expect(again.cache).toEqual({ hit: true, reason: [], from: first, savedMs: expect.any(Number) });
      expect(readdirSync(join(cache(place), 'drafts'))).toEqual([]);
    });
  });

  it('restores generated files that were removed', () =>
    withPlace(files, async (place) => {
      await run(place);
      rmSync(join(place.cwd, 'out'), { recursive: true });
      expect((await run(place)).cache).toMatchObject({ hit: true, restored: true });
      expect(readFileSync(join(place.cwd, 'out/all'), 'utf8')).toBe('a\n');
    }));

  it('has the same result as one that runs', () =>
    withPlace(files, async (place) => {
      const state = async (...more: readonly string[]) => {
        const { status, exitCode, outputs } = await run(place, ...more);
        return { status, exitCode, outputs, all: readFileSync(join(place.cwd, 'out/all'), 'utf8') };
      };
      await withEarlier(place);
      const restored = await state();
      expect(runs(place)).toBe(2);
      expect(await state('--force')).toEqual(restored);
      expect(runs(place)).toBe(3);
    }));

  it('runs with --no-cache and keeps nothing', () =>
    withPlace(files, async (place) => {
      await run(place, '--no-cache');
      expect(entries(place)).toEqual([]);
      await withEarlier(place);
      expect(entries(place)).toHaveLength(1);
      expect((await run(place, '--no-cache')).cache?.hit).toBe(false);
    }));

  it('compares "key", and keeps "paths"', () => {
    const more = ', env: {V: "1"}';
    const write = (place: Place, version: string) =>
      place.write('a.yaml', build(more).replace('cache: true', `cache: {key: "${version}", paths: [out, made]}`));
    return withPlace({ 'src/a': 'a\n' }, async (place) => {
      write(place, 'v1');
      writeFileSync(join(place.cwd, 'made'), 'm');
      await run(place);
      write(place, 'v2');
      expect((await run(place)).cache).toMatchObject({ hit: false, reason: [{ kind: 'command', name: 'cache' }] });
      rmSync(join(place.cwd, 'made'));
      write(place, 'v1');
      expect((await run(place)).cache).toMatchObject({ hit: true, restored: true });
      expect(readFileSync(join(place.cwd, 'made'), 'utf8')).toBe('m');
    });
  });

  it('restores what another file with the same step has made, with "scope: home" only', () =>
    withPlace({}, async (place) => {
      for (const scope of ['file', 'home']) {
        for (const checkout of ['one', 'two']) {
          place.write(`${scope}/${checkout}/src/a`, 'a\n');
          place.write(`${scope}/${checkout}/a.yaml`, build().replace('cache: true', `cache: {scope: ${scope}}`));
          await place.wf('run', `${scope}/${checkout}/a.yaml`);
        }
      }
      const ran = (path: string) => existsSync(join(place.cwd, path, 'runs'));
      expect(['file/one', 'file/two', 'home/one', 'home/two'].map(ran)).toEqual([true, true, true, false]);
      expect(readFileSync(join(place.cwd, 'home/two/out/all'), 'utf8')).toBe('a\n');
    }));

  it('is restored for each instance of a fan-out', () =>
    withPlace({ 'src/a': 'a\n', 'src/b': 'b\n' }, async (place) => {
      place.write(
        'a.yaml',
        `steps:\n  - {name: each, parallel: [a, b], script: "mkdir -p out; cp src/$ITEM out/$ITEM", sources: src/$ITEM, generates: out/$ITEM, cache: true}\n`,
      );
      await run(place);
      place.write('src/b', 'B\n');
      await run(place);
      place.write('src/b', 'b\n');
      const { items } = await run(place);
      expect(items?.map(({ cache: found }) => [found?.hit, found?.restored])).toEqual([
        [true, undefined],
        [true, true],
      ]);
      expect(readFileSync(join(place.cwd, 'out/b'), 'utf8')).toBe('b\n');
    }));
});

describe('what is kept', () => {
  const damages: readonly (readonly [string, string, (place: Place) => void])[] = [
    [
      'a changed content',
      'is damaged',
      (place) => {
        for (const path of contents(place)) writeFileSync(path, 'x\n');
      },
    ],
    [
      'a missing content',
      'is missing',
      (place) => {
        for (const path of contents(place)) rmSync(path);
      },
    ],
    [
      'a changed entry',
      'is damaged',
      (place) => {
        for (const name of entries(place)) writeFileSync(join(cache(place), 'entries', name), '{}\n');
      },
    ],
  ];

  it.each(damages)('is dropped with a warning if it is damaged: %s', (_, what, damage) =>
    withPlace(files, async (place) => {
      await withEarlier(place);
      damage(place);
      const { warnings, cache: found } = await run(place);
      expect(found?.hit).toBe(false);
      expect(warnings).toEqual([expect.stringMatching(`^build: .* is dropped from the cache: .*${what}$`)]);
      expect(readFileSync(join(place.cwd, 'out/all'), 'utf8')).toBe('a\n');
      place.write('src/a', 'third\n');
      await run(place);
      place.write('src/a', 'a\n');
      expect((await run(place)).cache).toMatchObject({ hit: true, restored: true });
    }),
  );

  it('is not used where it cannot be written', () =>
    withPlace(files, async (place) => {
      await withEarlier(place);
      rmSync(join(place.cwd, 'out'), { recursive: true });
      mkdirSync(join(place.cwd, 'out/all/inner'), { recursive: true });
      const { status, warnings } = await run(place);
      expect(warnings[0]).toMatch(/^build: an earlier success cannot be restored: .*all/);
      expect(status).toBe('failed');
    }));

  it('never lies outside of the directory, wherever links lead', () =>
    withPlace({ ...files, 'other/keep': 'keep' }, async (place) => {
      await withEarlier(place);
      rmSync(join(place.cwd, 'out'), { recursive: true });
      symlinkSync('other', join(place.cwd, 'out'));
      expect((await run(place)).warnings[0]).toContain('is not a directory');
    }));

  const refused: readonly (readonly [string, string, string])[] = [
    ['a pipe', 'mkdir -p out; rm -f out/p; mkfifo out/p', '"out/p" cannot be cached: it is not a regular file'],
    ['a secret', 'mkdir -p out; echo "x $TOKEN" > out/t', '"out/t" contains a secret'],
    ['too much', 'mkdir -p out; head -c 2000000 /dev/zero > out/z', 'more than 1 MiB ("cacheMaxMiB")'],
  ];

  it.each(refused)('has no %s', (_, text, reason) =>
    withPlace({ ...files, 'a.yaml': `secrets: [TOKEN]\n${build('', text)}` }, async (place) => {
      const env = { ...place.env, TOKEN: 'hunter2hunter2', WF_CACHE_MAX_MIB: '1' };
      await wf(['run', 'a.yaml'], { cwd: place.cwd, env });
      const { warnings, status } = await place.json<RunSummary>('status', 'a');
      expect(status).toBe('succeeded');
      expect(warnings).toEqual([expect.stringContaining(`build: the success is not cached: `)]);
      expect(warnings[0]).toContain(reason);
      expect(entries(place)).toEqual([]);
      expect(readdirSync(join(cache(place), 'drafts'))).toEqual([]);
    }),
  );

  it('is nothing with a size of 0', () =>
    withPlace(files, async (place) => {
      await wf(['run', 'a.yaml'], { cwd: place.cwd, env: { ...place.env, WF_CACHE_MAX_MIB: '0' } });
      expect(existsSync(cache(place))).toBe(false);
    }));

  it('is removed by wf gc, for one workflow or all', () =>
    withPlace({ ...files, 'b.yaml': build().replace('cat src', 'echo b; cat src') }, async (place) => {
      await run(place);
      await place.wf('run', 'b.yaml');
      expect((await place.wf('gc', '--cache', '--dry-run')).stdout).toMatch(/^would remove 2 cached results, /);
      expect(entries(place)).toHaveLength(2);
      expect(await place.json('gc', 'b.yaml', '--cache')).toMatchObject({ removed: [], cached: 1 });
      expect([entries(place).length, contents(place).length]).toEqual([1, 1]);
      const cleared = await place.json('gc', '--cache', '--fingerprints');
      expect(cleared).toMatchObject({ cached: 1, fingerprints: 2 });
      expect([entries(place), contents(place)]).toEqual([[], []]);
      expect((await place.wf('gc', '--cache')).stdout).toBe('nothing to remove\n');
      expect((await run(place)).cache?.reason).toEqual([{ kind: 'missing', name: 'success' }]);
    }));
});

describe('--assume-up-to-date', () => {
  it('takes the last success of a step as it is', () =>
    withPlace(files, async (place) => {
      expect((await run(place, '--assume-up-to-date', 'build')).cache?.hit).toBe(false);
      place.write('src/a', 'other\n');
      const { cache: found, outputs } = await run(place, '--assume-up-to-date', 'build', '--force');
      expect([found?.hit, outputs]).toEqual([true, { OUT: 'a' }]);
      expect((await run(place)).cache?.reason).toEqual([{ kind: 'source', name: 'src/a' }]);
      expect((await place.wf('run', 'a.yaml', '--assume-up-to-date', 'none')).stderr).toContain('has no such step');
    }));
});
