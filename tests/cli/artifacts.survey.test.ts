import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import type { Artifact } from '#service/history/artifacts.ts';
import { eventually } from '../support/background-runs.ts';
import { canUnshare, processOf, startIn, wfIn } from '../support/namespaces.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { launcher } from '../support/wf.ts';

/** Whether all is tried that takes long. */
const isWhole = process.env['WF_CHAOS'] === 'full';

const list = ({ json }: Place, run = 'r') => json<readonly Artifact[]>('artifacts', run);
const keptIn = ({ runsDir }: Place, run = 'r') => join(runsDir, run, 'artifacts');

/** The files that a directory contains, by their paths. */
function filesBelow(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(directory, path)).isFile())
    .toSorted();
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

describeWith('strace', isInstalled('strace'), 'a run that is killed at a system call of the copy', () => {
  const file = `steps:
  - name: a
    command: sh
    script: |
      mkdir -p d; echo "$WF_ATTEMPT" > one; echo "$WF_ATTEMPT" > d/two
      test -e n || { touch n; exit 1; }
    artifacts: [one, d]
    retryPolicy: {limit: 1, intervalSec: 0.01}
`;
  const calls = 'mkdir,openat,chmod,fchmod,rename,write,pwrite64,close,unlink,unlinkat,rmdir';

  /** Runs the workflow, in the main thread of which a call kills the process; null: none does. Returns the calls. */
  async function run({ cwd, env }: Place, kill: { readonly call: string; readonly number: number } | null) {
    const inject = kill === null ? [] : ['-e', `inject=${kill.call}:signal=SIGKILL:when=${kill.number}`];
    const traced = ['-qq', '-s', '300', '-o', join(cwd, 'trace'), '-e', `trace=${calls}`, ...inject];
    const words = [process.execPath, launcher, 'run', 'a.yaml', '--run-id', 'r', '--reporter', 'quiet'];
    const child = spawn('strace', [...traced, ...words], { cwd, env: { ...process.env, ...env }, stdio: 'ignore' });
    await once(child, 'close');
    return readFileSync(join(cwd, 'trace'), 'utf8').split('\n');
  }

  /** The calls between the first files that are kept and the end of the scratch directory, with their numbers. */
  function window(trace: readonly string[]): readonly { readonly call: string; readonly number: number }[] {
    const first = trace.findIndex((line) => line.startsWith('rename(') && line.includes('/r/artifacts/a"'));
    const last = trace.findLastIndex((line) => line.includes('/scratch'));
    expect(first).toBeGreaterThan(0);
    const counts = new Map<string, number>();
    return trace.flatMap((line, position) => {
      const [, call] = /^(\w+)\(/.exec(line) ?? [];
      if (call === undefined) return [];
      const number = (counts.get(call) ?? 0) + 1;
      counts.set(call, number);
      return position >= first && position <= last ? [{ call, number }] : [];
    });
  }

  it(
    'has the files of one attempt or none, and each as its event says',
    () =>
      withPlace({ 'a.yaml': file }, async (place) => {
        const all = window(await run(place, null));
        expect((await list(place)).map(({ name, attempt }) => [name, attempt])).toEqual([
          ['a/d/two', 2],
          ['a/one', 2],
        ]);
        // All of them take minutes.
        const every = isWhole ? 1 : Math.ceil(all.length / 8);
        const seen = new Set<number>();
        for (const kill of all.filter((_, position) => position % every === 0)) {
          for (const name of ['home/runs', 'n', 'one', 'd'])
            rmSync(join(place.cwd, name), { recursive: true, force: true });
          await run(place, kill);
          await place.json<RunSummary>('status', 'r');
          const artifacts = await list(place);
          seen.add(artifacts.length);
          const at = `${kill.call} ${kill.number}`;
          expect([at, new Set(artifacts.map(({ attempt }) => attempt)).size <= 1]).toEqual([at, true]);
          expect([at, [0, 2].includes(artifacts.length)]).toEqual([at, true]);
          for (const { name, sha256 } of artifacts)
            expect([at, hashOf(join(keptIn(place), name))]).toEqual([at, sha256]);
          expect([at, existsSync(join(place.runsDir, 'r/scratch'))]).toEqual([at, false]);
          // What no event names has no reader.
          const written = filesBelow(keptIn(place)).map((path) => readFileSync(join(keptIn(place), path), 'utf8'));
          expect([at, new Set(written).size <= 1]).toEqual([at, true]);
        }
        expect([...seen].toSorted()).toEqual([0, 2]);
        await place.wf('retry', 'r', '--run-id', 'again', '--reporter', 'quiet');
        expect(filesBelow(keptIn(place, 'again')).length % 2).toBe(0);
      }),
    300_000,
  );
});

/** A shell in which file systems can be mounted that are gone with it. */
const mounting = ['--map-root-user', '--mount', 'sh', '-ec'];
const canMount = spawnSync('unshare', [...mounting, 'mount -t tmpfs none /mnt']).status === 0;

describeWith('unshare', canMount, 'on a full disk', () => {
  it('a step whose files do not fit fails, keeps none, and the run ends', () => {
    const file = `steps:
  - {name: fits, script: "echo small > s", artifacts: s}
  - {name: big, script: "head -c 3000000 /dev/urandom > b; echo > c", artifacts: [c, b], depends: fits}
  - {name: after, command: "true", depends: big}
handlerOn:
  failure: {script: "echo > f", artifacts: f}
`;
    return withPlace({ 'a.yaml': file }, async ({ cwd, env }) => {
      const script = `mkdir disk; mount -t tmpfs -o size=2m,mode=700 none disk; export WF_HOME=$PWD/disk
"$0" "$1" run a.yaml --run-id r --reporter quiet || echo code=$?
"$0" "$1" status r --json > status; "$0" "$1" artifacts r --json > list
find disk/runs/r/artifacts -type f | sort; ls disk/runs/r`;
      const { stdout } = spawnSync('unshare', [...mounting, script, process.execPath, launcher], {
        cwd,
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      expect(stdout).toContain('code=1\n');
      expect(stdout).toContain('disk/runs/r/artifacts/fits/s\ndisk/runs/r/artifacts/handlerOn.failure/f\n');
      expect(stdout).not.toMatch(/artifacts\/big|scratch/);
      const read = (name: string) => JSON.parse(readFileSync(join(cwd, name), 'utf8'));
      const { status, steps }: RunSummary = read('status');
      expect([status, steps.map((step) => [step.name, step.status, step.error])]).toEqual([
        'failed',
        [
          ['fits', 'succeeded', null],
          ['big', 'failed', expect.stringMatching(/^the artifacts cannot be kept: .*no space/)],
          ['after', 'upstream_failed', expect.any(String)],
        ],
      ]);
      expect((read('list') as readonly Artifact[]).map(({ name }) => name)).toEqual(['fits/s', 'handlerOn.failure/f']);
    });
  });
});

describeWith('unshare', canUnshare, 'in another namespace of processes', () => {
  const container = 'another container';
  const file = `steps:
  - {name: a, script: "echo 1 > one", artifacts: one}
  - name: b
    command: sh -c 'echo ready; while [ ! -e go ]; do sleep 0.02; done; cat "$0/one"' \${a.artifacts}
    depends: a
`;

  it('files are listed, written, spared and taken over, and those of a dead run too', () =>
    withPlace({ 'a.yaml': file }, async (place) => {
      const running = startIn(container, place, 'run', 'a.yaml', '--run-id', 'r', '--reporter', 'plain');
      await running.until('ready');
      const there = JSON.parse((await wfIn(container, place, 'artifacts', 'r', '--json')).stdout);
      expect(there).toMatchObject([{ name: 'a/one', attempt: 1, bytes: 2 }]);
      expect((await wfIn(container, place, 'artifacts', 'get', 'r', '--to', '-')).stdout).toBe('1\n');
      await wfIn(container, place, 'gc', '--older-than', '0s', '--keep', '1');
      expect(filesBelow(keptIn(place))).toEqual(['a/one']);
      process.kill(processOf(running), 'SIGKILL');
      await running.ended;
      const status = () => place.json<RunSummary>('status', 'r');
      expect(await eventually(async () => (await status()).status === 'failed')).toBe(true);
      writeFileSync(join(place.cwd, 'go'), '');
      const retry = await wfIn(container, place, 'retry', 'r', '--run-id', 'r2', '--reporter', 'plain');
      expect([retry.code, retry.stdout]).toEqual([0, expect.stringContaining('[b] | 1\n')]);
      const inode = (run: string) => statSync(join(keptIn(place, run), 'a/one')).ino;
      expect(inode('r2')).toBe(inode('r'));
    }));
});

// It takes 20 seconds.
it.runIf(isWhole)('a run keeps 10,000 files, and leaves out what is beyond with one warning', () => {
  const file = `steps:
  - name: a
    command: sh -c 'mkdir d; cd d; seq 10003 | xargs touch'
    artifacts: d
  - name: b
    command: sh -c 'ls "$0/d" | wc -l' \${a.artifacts}
    depends: a
`;
  return withPlace({ 'a.yaml': file }, async (place) => {
    const run = await place.wf('run', 'a.yaml', '--run-id', 'r', '--reporter', 'plain');
    expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/\[b\] \| +10000\n/)]);
    const artifacts = await list(place);
    expect([artifacts.length, new Set(artifacts.map(({ name }) => name)).size]).toEqual([10_000, 10_000]);
    expect((await place.json<RunSummary>('status', 'r')).warnings).toEqual([
      'a: "d/9997", "d/9998", "d/9999" left out of the artifacts: the run keeps at most 10000 files',
    ]);
    expect((await place.wf('artifacts', 'get', 'r', '--to', 'out')).code).toBe(0);
    expect(filesBelow(join(place.cwd, 'out'))).toHaveLength(10_000);
  });
});

/** Whether files of the directories of tests can share their content. */
const canClone = (() => {
  const [from, to] = ['from', 'to'].map((name) => join(tmpdir(), `wf-clone-${process.pid}-${name}`));
  try {
    writeFileSync(from ?? '', 'x'.repeat(8192));
    copyFileSync(from ?? '', to ?? '', constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    for (const path of [from, to]) rmSync(path ?? '', { force: true });
  }
})();

/** Writes random bytes, zeros and random bytes again; returns their hash. */
const make = (mebibytes: number) =>
  `sh -c 'head -c 3000001 /dev/urandom > big; truncate -s ${mebibytes * 2 ** 20 - 7} big; printf "the end" >> big; sha256sum big'`;

async function keepsWhole(place: Place): Promise<void> {
  const run = await place.wf('run', 'a.yaml', '--run-id', 'r', '--reporter', 'plain');
  const [, sha256] = /\| ([0-9a-f]{64}) /.exec(run.stdout) ?? [];
  const [artifact] = await list(place);
  expect([run.code, artifact?.sha256]).toEqual([0, sha256]);
  const child = spawn(process.execPath, [launcher, 'artifacts', 'get', 'r', '--to', '-'], {
    cwd: place.cwd,
    env: { ...process.env, ...place.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const hash = createHash('sha256');
  for await (const chunk of child.stdout) hash.update(chunk);
  expect(hash.digest('hex')).toBe(sha256);
}

it('a file of 64 MiB is kept and printed byte for byte', () =>
  withPlace({ 'a.yaml': `steps: [{name: a, command: ${JSON.stringify(make(64))}, artifacts: big}]\n` }, keepsWhole));

describeWith('a file system with shared content', canClone, 'a file of 1 GiB', () => {
  it('is kept and printed byte for byte, and takes no space', () =>
    withPlace(
      { 'a.yaml': `steps: [{name: a, command: ${JSON.stringify(make(1024))}, artifacts: big}]\n` },
      async (place) => {
        const free = async () => {
          const child = spawn('df', ['-B1', '--output=avail', place.cwd], { stdio: ['ignore', 'pipe', 'inherit'] });
          return Number((await text(child.stdout)).split('\n')[1]);
        };
        const before = await free();
        await keepsWhole(place);
        expect(before - (await free())).toBeLessThan(1.5 * 2 ** 30);
      },
    ));
});
