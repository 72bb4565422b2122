import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { crash, withPlace } from '../support/past-runs.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { launcher, wf, withDirectory } from '../support/wf.ts';

const removing = 'unlink,unlinkat,rmdir';

/** Runs the program with every removal of a file or directory failing. */
async function withoutRemovals(error: string, words: readonly string[], cwd: string) {
  const traced = ['-o', '/dev/null', '-e', `trace=${removing}`, '-e', `inject=${removing}:error=${error}`];
  const child = spawn('strace', [...traced, process.execPath, launcher, ...words], {
    cwd,
    // What cannot be removed lies below the directory of the test.
    env: { PATH: process.env['PATH'], WF_HOME: join(cwd, 'home'), TMPDIR: cwd },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

describeWith('strace', isInstalled('strace'), 'files that cannot be removed', () => {
  const workflow = `secrets: [PASSWORD]
params: PASSWORD=hidden
steps:
  - {name: script, script: "echo one", output: ONE}
  - {name: slow, command: sleep 0.3, depends: script}
  - {name: after, command: echo $ONE two, depends: slow}
`;

  it.each([
    ['EIO', []],
    ['EROFS', ['--no-history']],
    ['EACCES', ['--run-id', 'r']],
  ])(
    'affect neither the run nor its display: %s %s',
    async (error, options) => {
      await withDirectory(async (cwd) => {
        writeFileSync(join(cwd, 'w.yaml'), workflow);
        const { code, stdout, stderr } = await withoutRemovals(error, ['run', 'w.yaml', ...options], cwd);
        expect([code, stderr]).toEqual([0, '']);
        expect(stdout).toMatch(/^\S+ WARN {3}".*" could not be removed: /m);
        expect(stdout).toContain('| one two');
        if (options.includes('--no-history')) return;
        const status = await withoutRemovals(error, ['status', 'w.yaml'], cwd);
        expect([status.code, status.stderr]).toEqual([0, '']);
      });
    },
    30_000,
  );
});

it.each([
  ['owner', '0'],
  ['damaged end', '1'],
])('leaves no part of a file that the disk refuses, at each attempt: the %s of a lost run', async (_, blocks) => {
  await withPlace({ 'w.yaml': 'steps: [{name: a, command: sleep 60}]' }, async (place) => {
    await crash(place, '[a] START', 'w.yaml', '--run-id', 'r');
    const run = join(place.runsDir, 'r');
    appendFileSync(join(run, 'journal.jsonl'), 'damaged\n'.repeat(100));
    const before = readdirSync(run).sort();
    for (let attempt = 1; attempt <= 2; attempt++) {
      const through = ['sh', '-c', `ulimit -f ${blocks}; exec "$@"`, 'sh'];
      expect((await wf(['status', 'r'], { ...place, through })).code).toBe(0);
    }
    expect(readdirSync(run).sort()).toEqual(before);
  });
});
