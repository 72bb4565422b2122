import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';

/** A user without other processes: the limit counts all of a user's, and does not hold for root. */
const uid = 64_124;
const wf = resolve(import.meta.dirname, '../../bin/wf.js');
const dir = mkdtempSync(join(tmpdir(), 'wf-process-limit-'));
chmodSync(dir, 0o700);
const isRoot = process.getuid?.() === 0;
if (isRoot) chownSync(dir, uid, uid);

/** Runs Node as that user, with a limit of processes and threads. */
function nodeAs(limit: number, ...args: string[]) {
  const drop = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups'];
  const env = { PATH: process.env.PATH, HOME: dir, WF_HOME: dir, TMPDIR: dir };
  const argv = [...drop, 'prlimit', `--nproc=${limit}`, process.execPath, ...args];
  return spawnSync('setpriv', argv, { cwd: dir, env, encoding: 'utf8', timeout: 60_000 });
}

const canRun = isRoot && nodeAs(500, wf, '--version').status === 0;
const remove = () => rmSync(dir, { recursive: true });
// Vitest calls no hook of a file whose tests are all skipped.
if (canRun) afterAll(remove);
else remove();

/** Threads of Node itself. */
const ownThreads = () =>
  Number(nodeAs(500, '-p', "/Threads:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]").stdout);

it.skipIf(!canRun)('a jq step fails with the reason where no thread can be started', () => {
  writeFileSync(join(dir, 'jq.yaml'), 'steps:\n  - {name: one, executor: jq, command: .a, script: \'{"a": 1}\'}\n');
  // Only the four threads that read files.
  const { status, signal, stdout } = nodeAs(ownThreads() + 4, wf, 'run', 'jq.yaml');
  expect({ status, signal }).toEqual({ status: 1, signal: null });
  expect(stdout).toContain('FAIL   cannot spawn a thread: the limit of processes is reached');
  const enough = nodeAs(ownThreads() + 5, wf, 'run', 'jq.yaml');
  expect([enough.status, enough.stdout]).toEqual([0, expect.stringContaining('OK')]);
});

it.skipIf(!canRun)('steps fail with the reason where the limit of processes is reached', () => {
  const steps = Array.from({ length: 60 }, (_, index) => `  - {name: s${index}, command: echo ${index}}\n`).join('');
  writeFileSync(join(dir, 'many.yaml'), `steps:\n${steps}`);
  // The four threads that read files, and room for a few programs.
  const { status, signal, stdout } = nodeAs(ownThreads() + 4 + 4, wf, 'run', 'many.yaml');
  expect({ status, signal }).toEqual({ status: 1, signal: null });
  expect(stdout).toContain('FAIL   "echo" could not be started: the limit of processes is reached');
  expect(stdout).toContain('FAILED many');
});
