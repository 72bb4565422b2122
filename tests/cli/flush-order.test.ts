import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith, isInstalled } from '../support/require.ts';
import { launcher } from '../support/wf.ts';

/** Large enough that the starter starts most of the steps. */
const count = 60;

/** A directory in memory, where a flush is so quick that the starter may make it. */
function directory(): string {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Ends of the traced calls in order: a flush by the process with this name, or the start of a step's program. */
function callsIn(trace: string): readonly string[] {
  const names = new Map<string, string>();
  return trace.split('\n').flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, program] = /^execve\("([^"]*)"/.exec(call) ?? [];
    if (program !== undefined) names.set(thread, program);
    if (program?.endsWith('/true')) return ['step'];
    return /fdatasync.*= 0$/.test(call) ? [`flush by ${names.get(thread) ?? 'a thread'}`] : [];
  });
}

describeWith('strace', isInstalled('strace'), 'a chain of many steps', () => {
  it('starts each program after the result before it was flushed, which the starter does', () => {
    const dir = directory();
    const steps = Array.from({ length: count }, (_, at) => {
      const after = at === 0 ? '' : `\n    depends: s${at - 1}`;
      return `  - name: s${at}\n    command: /bin/true${after}\n`;
    });
    writeFileSync(join(dir, 'chain.yaml'), `steps:\n${steps.join('')}`);
    const traced = ['-f', '-qq', '-s', '200', '-o', join(dir, 'trace'), '-e', 'trace=execve,fdatasync'];
    const { status } = spawnSync('strace', [...traced, process.execPath, launcher, 'run', 'chain.yaml'], {
      cwd: dir,
      env: { PATH: process.env['PATH'], WF_HOME: join(dir, 'home') },
    });
    expect(status).toBe(0);

    const calls = callsIn(readFileSync(join(dir, 'trace'), 'utf8'));
    const [, ...between] = calls.join(' ').split('step').slice(0, -1);
    expect(between).toHaveLength(count - 1);
    expect(between.filter((calls) => !calls.includes('flush'))).toEqual([]);
    if (existsSync('/usr/bin/python3'))
      expect(calls.filter((call) => call.includes('python')).length).toBeGreaterThan(0);
  });
});
