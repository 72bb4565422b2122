import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { untilOver } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';
import { withPlace } from '../support/past-runs.ts';

const files = {
  'wait.yaml': 'steps:\n  - name: wait\n    command: sh -c "echo begun; until test -e go; do sleep 0.05; done"\n',
};

test('SIGUSR1 opens no debugger in a foreground run, and the run continues', () =>
  withPlace(files, async ({ start, write }) => {
    const run = start('run', 'wait.yaml');
    await run.until('begun');
    run.kill('SIGUSR1');
    await untilTaken(run.pid);
    write('go', '');
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
  }));

test('nor in the process of a detached run', () =>
  withPlace(files, async (place) => {
    const runId = (await place.wf('run', 'wait.yaml', '--detach')).stdout.trim();
    await expect.poll(async () => (await place.json<RunSummary>('status', runId)).status).toBe('running');
    const { owner } = await place.json<RunSummary>('status', runId);
    process.kill(owner?.pid ?? 0, 'SIGUSR1');
    await untilTaken(owner?.pid ?? 0);
    place.write('go', '');
    await untilOver(place, runId, 'succeeded');
    expect(textsBelow(join(place.cwd, 'home')).filter((text) => text.includes('Debugger'))).toEqual([]);
  }));

test('nor in the daemon, which logs the signal', () =>
  withDaemons(files, async ({ serve }) => {
    const daemon = await serve();
    daemon.process.kill('SIGUSR1');
    await daemon.process.until('SIGUSR1 is ignored and opens no debugger\n');
    const { code, stderr } = await daemon.end('SIGTERM');
    expect([code, stderr.includes('Debugger')]).toEqual([0, false]);
  }));

/** The kernel has handed the signal to the process, and a handler of that process takes it: no default can follow. */
async function untilTaken(pid: number): Promise<void> {
  const mask = 1n << BigInt(10 - 1);
  const bits = (name: string) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return BigInt(`0x${new RegExp(`^${name}:\\s*(\\w+)$`, 'm').exec(status)?.[1] ?? '0'}`) & mask;
  };
  await expect.poll(() => bits('ShdPnd')).toBe(0n);
  expect(bits('SigCgt')).toBe(mask);
}

function textsBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'));
}
