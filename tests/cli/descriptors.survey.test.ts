import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { launcher, withDirectory } from '../support/wf.ts';

/** Runs many steps at once in a process with a limit of open files; `programs`: the paths of all programs in PATH by name. */
function runWith(limit: number, steps: number, programs?: Readonly<Record<string, string>>) {
  return withDirectory(async (cwd) => {
    const step = (_: unknown, number: number) => `  - {name: s${number}, command: sh -c 'echo hello; sleep 0.2'}\n`;
    writeFileSync(join(cwd, 'w.yaml'), `type: graph\nsteps:\n${Array.from({ length: steps }, step).join('')}`);
    for (const [name, path] of Object.entries(programs ?? {})) symlinkSync(path, join(cwd, name));
    const path = programs === undefined ? process.env['PATH'] : cwd;
    const words = ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, launcher, 'run', 'w.yaml'];
    const child = spawn('/bin/sh', words, {
      cwd,
      env: { PATH: path, WF_HOME: join(cwd, 'home') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: child.exitCode, stdout, stderr };
  });
}

describe('steps beyond the limit of descriptors', () => {
  it('wait for running steps', async () => {
    const { code, stdout, stderr } = await runWith(256, 150);
    expect([code, stderr, stdout.split('\n').at(-2)]).toEqual([0, '', expect.stringContaining('150 succeeded')]);
  }, 60_000);

  it('fail with the reason where waiting does not help', async () => {
    const { code, stdout, stderr } = await runWith(30, 40);
    expect([code, stdout]).toEqual([1, expect.stringContaining('too many open files')]);
    expect(stdout + stderr).not.toContain('bug in wf');
  }, 60_000);
});
