import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith, isInstalled } from '../support/require.ts';
import { launcher, withDirectory } from '../support/wf.ts';

const workflow = 'steps:\n  - {name: a, command: "true"}\n';

/** Runs `wf` with faults for its calls on the journal of run "r". */
function wf(cwd: string, words: readonly string[], faults: readonly string[] = []) {
  const journal = join(cwd, 'home/runs/r/journal.jsonl');
  const traced = ['strace', '-o', join(cwd, 'trace'), ...faults, '-P', journal];
  const [program = '', ...args] = [...(faults.length > 0 ? traced : []), process.execPath, launcher, ...words];
  const env = { PATH: process.env['PATH'], WF_HOME: join(cwd, 'home'), TMPDIR: cwd };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

function summaryOf(cwd: string) {
  const { code, stdout } = wf(cwd, ['status', 'r', '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

describeWith('strace', isInstalled('strace'), 'the last event of a run', () => {
  it.each([
    ['EIO', 'the device reports an input/output error'],
    ['ENOSPC', 'no space left on the device'],
  ])('that cannot be written fails the run, which is settled later: %s', async (code, words) => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), workflow);
      const run = ['run', 'w.yaml', '--run-id', 'r', '--reporter', 'plain'];
      const writes = countWrites(cwd, run);
      const failed = wf(cwd, run, ['-e', 'trace=write', '-e', `inject=write:error=${code}:when=${writes}+`]);
      expect(failed.stdout).toContain(`FAILED w in `);
      expect(failed.stdout).toContain(`cannot write "${join(cwd, 'home/runs/r/journal.jsonl')}": ${words}`);
      expect(failed.code).toBe(1);
      expect(summaryOf(cwd)).toMatchObject({ status: 'failed', reason: 'lost' });
      const again = wf(cwd, ['retry', 'r', '--reporter', 'plain']);
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('SUCCEEDED w in ')]);
    });
  });

  it('that cannot be flushed is reported', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), workflow);
      const faults = ['-f', '-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO'];
      const { code, stdout } = wf(cwd, ['run', 'w.yaml', '--run-id', 'r', '--reporter', 'plain'], faults);
      expect(stdout).toContain('the end of this run may be lost: cannot flush ');
      expect(code).toBe(0);
      expect(summaryOf(cwd)).toMatchObject({ status: 'succeeded' });
    });
  });
});

/** Writes to the journal in a whole run; the run is removed again. */
function countWrites(cwd: string, run: readonly string[]): number {
  const log = join(cwd, 'trace');
  expect(wf(cwd, run, ['-e', 'trace=write']).code).toBe(0);
  const writes = readFileSync(log, 'utf8').match(/^write\(/gm) ?? [];
  rmSync(join(cwd, 'home'), { recursive: true });
  return writes.length;
}
