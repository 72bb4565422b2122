import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '#core/plan.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { Artifact } from '#service/history/artifacts.ts';
import { eventually } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

const steps = (...lines: readonly string[]) => `type: graph\nsteps:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
const run = ({ wf }: Place, ...more: readonly string[]) =>
  wf('run', 'a.yaml', '--reporter', 'plain', '--run-id', 'r', ...more);
const list = ({ json }: Place, ...more: readonly string[]) => json<readonly Artifact[]>('artifacts', 'r', ...more);
const names = async (place: Place, ...more: readonly string[]) => (await list(place, ...more)).map(({ name }) => name);
const kept = ({ runsDir }: Place) => join(runsDir, 'r/artifacts');
const warnings = async ({ json }: Place) => (await json<RunSummary>('status', 'r')).warnings;
const make = (script: string) => JSON.stringify(`sh -c '${script}'`);

describe('a step', () => {
  it('keeps the files that match after its last attempt', () => {
    const script =
      'test -e n || { touch n dist-old; mkdir -p dist; echo 1 > dist/a; exit 1; }; rm dist/a; echo 2 > dist/b';
    const file = steps(
      `{name: build, command: ${make(script)}, artifacts: dist/**, retryPolicy: {limit: 1, intervalSec: 0.01}}`,
    );
    return withPlace({ 'a.yaml': file }, async (place) => {
      expect((await run(place)).code).toBe(0);
      const sha256 = createHash('sha256').update('2\n').digest('hex');
      expect(await list(place)).toEqual([
        { step: 'build', attempt: 2, name: 'build/dist/b', path: 'dist/b', bytes: 2, sha256 },
      ]);
      expect(readdirSync(join(kept(place), 'build/dist'))).toEqual(['b']);
      expect(existsSync(join(place.runsDir, 'r/scratch'))).toBe(false);
    });
  });

  it('keeps by the end of its attempt, in folders, and what its program puts into the directory for it', () => {
    const script = 'echo a > a; echo b > b; mkdir $WF_ARTIFACTS_DIR/own; echo c > $DAG_RUN_ARTIFACTS_DIR/own/c';
    const rules = '[{path: a, when: success, name: good}, {path: b, when: failure, name: bad}]';
    return withPlace(
      {
        'a.yaml': steps(
          `{name: passes, command: ${make(script)}, artifacts: ${rules}}`,
          `{name: fails, command: ${make(`${script}; exit 3`)}, artifacts: ${rules}}`,
          `{name: own, command: ${make(script)}}`,
        ),
      },
      async (place) => {
        expect((await run(place)).code).toBe(1);
        const all = ['passes/good/a', 'passes/own/c', 'fails/bad/b', 'fails/own/c', 'own/own/c'];
        expect(await names(place)).toEqual(all);
        expect(await names(place, 'fails')).toEqual(['fails/bad/b', 'fails/own/c']);
      },
    );
  });

  it('fails without a required file, and is retried by its policy', () => {
    const one = (more: string) => `{name: a, command: ${make('test -e n && echo > out; touch n')}, ${more}}`;
    const rule = 'artifacts: [{path: out, required: true}]';
    return withPlace(
      { 'a.yaml': steps(one(rule)), 'b.yaml': steps(one(`${rule}, retryPolicy: {limit: 1, intervalSec: 0.01}`)) },
      async (place) => {
        const failed = await run(place, '--no-history');
        expect([failed.code, failed.stdout]).toEqual([
          1,
          expect.stringContaining('no file matches the required "out" of "artifacts"'),
        ]);
        expect((await place.wf('run', 'b.yaml')).code).toBe(0);
      },
    );
  });

  it('keeps files of each instance of a fan-out, and of handlers', () =>
    withPlace(
      {
        'a.yaml': `${steps(`{name: ship, parallel: [web1, a/b], command: ${make('echo $ITEM > log-$WF_ITEM_INDEX')}, artifacts: log-$WF_ITEM_INDEX}`)}handlerOn:\n  exit: {command: ${make('echo > end')}, artifacts: end}\n`,
      },
      async (place) => {
        expect((await run(place)).code).toBe(0);
        expect(await names(place)).toEqual(['ship/web1/log-0', 'ship/a/b/log-1', 'handlerOn.exit/end']);
        expect(await names(place, 'ship[web1]')).toEqual(['ship/web1/log-0']);
        expect(readdirSync(join(kept(place), 'ship')).toSorted()).toEqual(['a%2Fb', 'web1']);
      },
    ));
});

describe('a later step', () => {
  const of = (id: string) => `\${${id}.artifacts}`;
  const child = steps(`{name: c, command: ${make('echo child > c')}, artifacts: c}`);
  const file = steps(
    `{name: build, command: ${make('echo app > app')}, artifacts: app}`,
    '{name: sub, run: child, depends: build}',
    '{name: ship, parallel: [a, b], command: touch $ITEM, artifacts: $ITEM}',
    `{name: show, command: 'cat ${of('build')}/app ${of('sub')}/c/c', depends: [build, sub], artifacts: []}`,
    `{name: all, command: 'ls ${of('ship')} ${of('show')}', depends: [ship, show]}`,
    '{name: gate, command: test -e go, depends: all}',
    `{name: again, command: 'cat ${of('build')}/app', depends: [build, gate]}`,
  );

  it('reads the files of steps, of their instances and sub-workflows, and those that a retry takes over', () =>
    withPlace({ 'a.yaml': file, 'child.yaml': child }, async (place) => {
      const first = await run(place);
      expect([first.code, first.stdout]).toEqual([1, expect.stringMatching(/\| app\n.*\| child\n/)]);
      expect(await names(place)).toEqual(['build/app', 'ship/a/a', 'ship/b/b']);
      place.write('go', '');
      const retry = await place.wf('retry', 'r', '--run-id', 'r2', '--reporter', 'plain');
      expect([retry.code, retry.stdout]).toEqual([0, expect.stringContaining('[again] | app\n')]);
      const before = await list(place);
      expect(await place.json('artifacts', 'r2')).toEqual(before.map((each) => ({ ...each, attempt: 0 })));
      const inode = (runId: string) => statSync(join(place.runsDir, runId, 'artifacts/build/app')).ino;
      expect(inode('r2')).toBe(inode('r'));
    }));

  it('is not retried with files that are gone without a warning', () =>
    withPlace({ 'a.yaml': file, 'child.yaml': child }, async (place) => {
      await run(place);
      rmSync(join(kept(place), 'build/app'));
      place.write('go', '');
      const retry = await place.wf('retry', 'r', '--run-id', 'r2', '--reporter', 'plain');
      expect([retry.code, retry.stdout]).toEqual([
        1,
        expect.stringContaining('[build] WARN   the artifact "app" of run r is gone'),
      ]);
    }));
});

describe('files of an earlier step', () => {
  const build = `{name: build, command: ${make('mkdir -p d; echo app > d/app; chmod +x d/app')}, artifacts: d, dir: made}`;
  const file = steps(
    build,
    '{name: sub, run: child, depends: build}',
    `{name: ship, parallel: [a, b/c], command: ${make('echo $ITEM > log')}, artifacts: log, dir: "of-$ITEM"}`,
    `{name: use, command: ${make('cat in/d/app in/d/old; ls in')}, artifacts: [{from: build, to: "$IN/./"}, {from: sub, to: in/sub}, {from: ship, to: in}], env: {IN: in}, depends: [build, sub, ship]}`,
    '{name: gate, command: test -e go, depends: use}',
    `{name: again, command: ${make('cat d/app sub/c/c')}, artifacts: [{from: sub, to: sub}, {from: build}], depends: [build, sub, gate]}`,
  );
  const child = steps(`{name: c, command: ${make('echo child > c')}, artifacts: c}`);
  const files = { 'a.yaml': file, 'child.yaml': child };
  const prepare = (place: Place) => {
    for (const name of ['made', 'of-a', 'of-b/c', 'in/d']) mkdirSync(join(place.cwd, name), { recursive: true });
    place.write('in/d/old', 'old\n');
    place.write('in/d/app', 'before\n');
  };

  it('are in the directory of a step before each attempt, also in a retry', () =>
    withPlace(files, async (place) => {
      prepare(place);
      const first = await run(place);
      expect([first.code, first.stdout]).toEqual([
        1,
        expect.stringMatching(/\| app\n.*\| old\n.*\| a\n.*\| b%2Fc\n.*\| d\n.*\| sub\n/),
      ]);
      const placed = statSync(join(place.cwd, 'in/d/app'));
      expect([placed.mode & 0o777, placed.nlink]).toEqual([0o777 & ~process.umask(), 1]);
      expect(readFileSync(join(place.cwd, 'in/b%2Fc/log'), 'utf8')).toBe('b/c\n');
      expect(await names(place)).toEqual(['build/d/app', 'ship/a/log', 'ship/b/c/log']);
      expect(readdirSync(join(place.cwd, 'in/d'))).toEqual(['app', 'old']);
      place.write('go', '');
      const retry = await place.wf('retry', 'r', '--run-id', 'r2', '--reporter', 'plain');
      expect([retry.code, retry.stdout]).toEqual([0, expect.stringMatching(/\| app\n.*\| child\n/)]);
      const second = await place.wf('retry', 'r2', '--from', 'again', '--reporter', 'plain');
      expect([second.code, second.stdout]).toEqual([0, expect.stringMatching(/\| app\n.*\| child\n/)]);
    }));

  it('are never written through a link, nor above the directory', () => {
    const use = (to: string) => `{name: use, command: "true", artifacts: {from: build, to: "${to}"}, depends: build}`;
    const own = { 'a.yaml': steps(build, use('in')), 'b.yaml': `env: {UP: ..}\n${steps(build, use('$UP/x'))}` };
    return withPlace(own, async (place) => {
      mkdirSync(join(place.cwd, 'made/d'), { recursive: true });
      symlinkSync(join(place.cwd, 'made'), join(place.cwd, 'in'));
      expect((await run(place)).stdout).toMatch(
        /the artifacts of "build" cannot be placed: ".*\/in" is not a directory/,
      );
      const { stdout } = await place.wf('run', 'b.yaml', '--reporter', 'plain');
      expect(stdout).toContain('"../x" of "artifacts" is not below the directory of the step');
      rmSync(join(place.cwd, 'in'));
      mkdirSync(join(place.cwd, 'in/d'), { recursive: true });
      place.write('victim', 'kept');
      symlinkSync(join(place.cwd, 'victim'), join(place.cwd, 'in/d/app'));
      expect((await place.wf('run', 'a.yaml', '--reporter', 'plain')).code).toBe(0);
      expect(readFileSync(join(place.cwd, 'victim'), 'utf8')).toBe('kept');
      expect(readFileSync(join(place.cwd, 'in/d/app'), 'utf8')).toBe('app\n');
    });
  });

  it('are placed whole by all instances of a fan-out at once', () => {
    const use = `{name: use, parallel: [1, 2, 3, 4, 5, 6], command: ${make('wc -c < big')}, artifacts: {from: build}, depends: build}`;
    const own = `{name: build, command: ${make('head -c 3000000 /dev/zero > $WF_ARTIFACTS_DIR/big')}}`;
    return withPlace({ 'a.yaml': steps(own, use) }, async (place) => {
      const { code, stdout } = await run(place);
      expect([code, stdout.match(/\| 3000000\n/g)?.length]).toEqual([0, 6]);
      expect(readdirSync(place.cwd).filter((name) => name.startsWith('.wf'))).toEqual([]);
    });
  });

  it('are missing with a warning if there are none', () => {
    const use = '{name: use, command: "true", artifacts: {from: build}, depends: build}';
    return withPlace({ 'a.yaml': steps('{name: build, command: "true", artifacts: []}', use) }, async (place) => {
      expect((await run(place)).code).toBe(0);
      expect(await warnings(place)).toEqual(['use: "build" has kept no artifacts']);
    });
  });
});

it('dry and graph name the files that a step keeps, and those that it finds', () => {
  const file = steps(
    '{name: build, command: "true", artifacts: ["$OUT/**", {path: a.log, when: failure, name: logs}, {path: r.html, required: true}]}',
    '{name: own, command: "true", artifacts: []}',
    '{name: use, command: "true", artifacts: [{from: build, to: in}, {from: own}], depends: [build, own]}',
  );
  return withPlace({ 'a.yaml': `env: {OUT: dist}\n${file}` }, async (place) => {
    const plan = await place.json<Plan>('dry', 'a.yaml');
    expect(plan.steps.map(({ policies }) => policies)).toEqual([
      ['keeps dist/**, a.log (on failure), r.html (required)'],
      ['keeps $WF_ARTIFACTS_DIR'],
      ['finds the files of build in in', 'finds the files of own'],
    ]);
    const { stdout } = await place.wf('graph', 'a.yaml');
    expect(stdout).toContain('build (keeps $OUT/**, a.log (on failure) and 1 more)');
    expect(stdout).toContain('use (finds the files of build in in, finds the files of own)');
    const { nodes } = await place.json<{ readonly nodes: readonly object[] }>('graph', 'a.yaml');
    expect(nodes).toMatchObject([
      { name: 'build', artifacts: ['$OUT/**', 'a.log', 'r.html'] },
      { name: 'own', artifacts: [] },
      { name: 'use', placed: ['build', 'own'] },
    ]);
  });
});

it('an attempt that is killed has no files of the attempt before it', () => {
  const script =
    'echo > $WF_ARTIFACTS_DIR/a; test -e n || { touch n; exit 1; }; trap : TERM; while :; do sleep 1; done';
  const file = steps(
    `{name: build, command: ${make(script)}, timeoutSec: 1, retryPolicy: {limit: 1, intervalSec: 0.01}, continueOn: {failure: true}}`,
    '{name: use, command: "true", artifacts: {from: build}, depends: build}',
  );
  return withPlace({ 'a.yaml': `MaxCleanUpTimeSec: 1\n${file}` }, async (place) => {
    expect((await run(place)).code).toBe(0);
    expect([await names(place), existsSync(join(kept(place), 'build'))]).toEqual([[], false]);
  });
});

it('a reference to files that a step does not keep is an error', () => {
  const file = steps('{name: a, command: "true"}', `{name: b, command: 'ls \${a.artifacts}', depends: a}`);
  return withPlace({ 'a.yaml': file }, async (place) => {
    expect((await run(place)).stderr).toContain('step "a" keeps no artifacts');
  });
});

describe('what cannot be kept', () => {
  it('is left out with a warning', () => {
    const script = 'ln -s /etc/passwd link; ln -s a good; echo > a; mkfifo pipe; head -c 1100000 /dev/zero > big';
    const file = `artifacts: {maxMiB: 1}\n${steps(`{name: a, command: ${make(script)}, artifacts: ["*", none, "$UP/x"], env: {UP: ..}}`)}`;
    return withPlace({ 'a.yaml': file }, async (place) => {
      expect((await run(place)).code).toBe(0);
      expect(await names(place)).toEqual(['a/a', 'a/a.yaml', 'a/good']);
      expect(await warnings(place)).toEqual([
        'a: no file matches "none" of "artifacts"',
        'a: no file matches "../x" of "artifacts"',
        'a: "big" left out of the artifacts: the run keeps at most 1 MiB ("maxMiB")',
        'a: "link" left out of the artifacts: a link leads out of the directory, or to a directory',
        'a: "pipe" left out of the artifacts: not a regular file',
      ]);
    });
  });

  it('fails a step that requires it', () => {
    const file = steps(
      `{name: a, command: ${make('ln -s /etc/passwd link; echo > b')}, artifacts: [{path: "*", required: true}]}`,
    );
    return withPlace({ 'a.yaml': file }, async (place) => {
      expect((await run(place)).stdout).toContain('1 file of the required "*" cannot be kept');
      expect(await names(place)).toEqual(['a/a.yaml', 'a/b']);
    });
  });

  it('includes paths with a secret; a file that contains one is kept with a warning', () => {
    const script = 'echo token is $TOKEN > report; echo > file-$TOKEN';
    const file = `secrets: [TOKEN]\n${steps(`{name: a, command: ${make(script)}, artifacts: ["report", "file-*"]}`)}`;
    return withPlace({ 'a.yaml': file }, async (place) => {
      const env = { ...place.env, TOKEN: 'hunter2hunter2' };
      const { wf } = await import('../support/wf.ts');
      expect((await wf(['run', 'a.yaml', '--run-id', 'r'], { cwd: place.cwd, env })).code).toBe(0);
      expect(await names(place)).toEqual(['a/report']);
      expect(await warnings(place)).toEqual([
        'a: "file-***" left out of the artifacts: the path contains a secret of the run',
        'a: "report" among the artifacts: it contains a secret of the run',
      ]);
    });
  });
});

it('a crash while files are kept leaves none of them, and nothing in the run', () => {
  const script = 'i=0; while [ $i -lt 3000 ]; do echo > f$i; i=$((i+1)); done';
  return withPlace({ 'a.yaml': steps(`{name: a, command: ${make(script)}, artifacts: "f*"}`) }, async (place) => {
    const running = place.start('run', 'a.yaml', '--run-id', 'r');
    const scratch = join(place.runsDir, 'r/scratch');
    const isCopying = () => readdirSync(scratch).some((name) => readdirSync(join(scratch, name)).length > 0);
    await eventually(async () => existsSync(scratch) && isCopying());
    running.kill('SIGKILL');
    await running.ended;
    const { steps: ends } = await place.json<RunSummary>('status', 'r');
    expect(ends.map(({ reason }) => reason)).toEqual(['lost']);
    expect(await names(place)).toEqual([]);
    expect([existsSync(kept(place)), existsSync(scratch)]).toEqual([false, false]);
  });
});

it('files that retention has removed are named as such, and a retry reports them', () => {
  const file = steps(
    `{name: a, command: ${make('echo 1 > one; echo 2 > two')}, artifacts: ["one", "two"]}`,
    '{name: b, command: test -e go, depends: a}',
  );
  return withPlace({ 'a.yaml': `artifacts: {retentionDays: 0}\n${file}` }, async (place) => {
    await run(place);
    expect((await place.wf('gc')).stdout).toBe('nothing to remove\n');
    await place.wf('run', 'a.yaml');
    expect((await place.wf('gc', '--dry-run')).stdout).toMatch(/ of artifacts\nwould remove the artifacts of 1 run, /);
    const { removed } = await place.json<{ readonly removed: readonly object[] }>('gc');
    expect(removed).toMatchObject([{ runId: 'r', part: 'artifacts' }]);
    expect((await place.wf('artifacts', 'r')).stdout).toMatch(
      /a\/one\n.*a\/two\n2 files, .*; the files have been removed\n/,
    );
    expect((await list(place)).map(({ removed: gone }) => gone)).toEqual([true, true]);
    expect((await place.wf('artifacts', 'get', 'r')).stderr).toContain('the artifacts of run r have been removed');
    const report = await place.wf('report', 'r', '-o', 'r.html', '--with-artifacts');
    expect(report.code).toBe(0);
    place.write('go', '');
    expect((await place.wf('retry', 'r', '--reporter', 'plain')).stdout).toContain(
      '[a] WARN   its 2 artifacts in run r are gone',
    );
  });
});

describe('wf artifacts get', () => {
  const file = steps(
    `{name: a, command: ${make('mkdir -p d; echo 1 > d/one; printf 22 > d/two; chmod +x d/two')}, artifacts: d}`,
  );
  const withRun = (use: (place: Place) => Promise<void>) =>
    withPlace({ 'a.yaml': file }, async (place) => {
      await run(place);
      await use(place);
    });

  it('writes files, those that match, and overwrites only with --force', () =>
    withRun(async (place) => {
      const get = (...more: readonly string[]) => place.wf('artifacts', 'get', '@latest', ...more, '--to', 'out');
      expect((await get('**/two')).stdout).toBe('out/a/d/two\n');
      execFileSync(join(place.cwd, 'out/a/d/two'), { shell: 'true' });
      expect((await get()).stderr).toContain('"out/a/d/two" exists');
      expect((await get('--force')).stdout).toBe('out/a/d/one\nout/a/d/two\n');
      expect(readFileSync(join(place.cwd, 'out/a/d/one'), 'utf8')).toBe('1\n');
      expect((await get('x*')).stderr).toContain('no artifact matches "x*"');
    }));

  it('prints one file as it is, and several as an archive', () =>
    withRun(async (place) => {
      expect((await place.wf('artifacts', 'get', 'r', 'a/d/one', '--to', '-')).stdout).toBe('1\n');
      const { stdout } = await place.wf('artifacts', 'get', 'r', '--to', '-');
      writeFileSync(join(place.cwd, 'all.tar'), stdout);
      execFileSync('tar', ['-xf', 'all.tar'], { cwd: place.cwd });
      expect(readFileSync(join(place.cwd, 'a/d/two'), 'utf8')).toBe('22');
    }));

  it('writes through no link, and no name that leads out of the directory', () =>
    withRun(async (place) => {
      mkdirSync(join(place.cwd, 'out'), { recursive: true });
      symlinkSync(place.cwd, join(place.cwd, 'out/a'));
      expect((await place.wf('artifacts', 'get', 'r', '--to', 'out')).stderr).toContain('"out/a" is not a directory');
      expect(readFileSync(join(place.cwd, 'd/one'), 'utf8')).toBe('1\n');
    }));

  it('refuses names that lead out of the directory, before it writes any file', () => {
    const each = steps(`{name: each, parallel: ["..", a], command: ${make('echo > $WF_ARTIFACTS_DIR/x')}}`);
    return withPlace({ 'a.yaml': each }, async (place) => {
      await run(place);
      expect(await names(place)).toEqual(['each/../x', 'each/a/x']);
      for (const to of ['out', '-']) {
        const { code, stdout, stderr } = await place.wf('artifacts', 'get', 'r', '--to', to);
        expect([code, stdout, stderr]).toEqual([
          2,
          '',
          expect.stringContaining('the artifact "each/../x" has no name for a file'),
        ]);
      }
      expect([existsSync(join(place.cwd, 'out')), existsSync(join(place.cwd, 'x'))]).toEqual([false, false]);
      expect((await place.wf('artifacts', 'get', 'r', 'each/a/x', '--to', 'out')).code).toBe(0);
    });
  });

  it('reports a file that has changed since', () =>
    withRun(async (place) => {
      writeFileSync(join(kept(place), 'a/d/one'), 'changed');
      expect((await place.wf('artifacts', 'get', 'r')).stderr).toContain('the artifact "a/d/one" of run r is damaged');
    }));
});
