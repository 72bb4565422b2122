import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { uses } from '#fast/accelerators.ts';
import { readProcess } from '#processes/process-identity.ts';
import { startWf, wf, withDirectory } from '../support/wf.ts';

/** Large enough that starters start most of them. */
const count = 120;

/** Each step prints the process that started it and ends in its own way. */
function manySteps(end: (index: number) => string): string {
  const steps = Array.from({ length: count }, (_, index) => {
    const script = `echo $PPID >> "$STARTED_BY"; ${end(index)}`;
    return `  - name: s${index}\n    command: ${JSON.stringify(script)}\n    continueOn: {failure: true}\n`;
  });
  return `maxActiveRuns: 3\nsteps:\n${steps.join('')}`;
}

function startedBy(file: string): readonly number[] {
  return [...new Set(readFileSync(file, 'utf8').trim().split('\n').map(Number))];
}

test.skipIf(!uses('starter'))('each of many steps has its own result, and no starter remains', async () => {
  await withDirectory(async (dir) => {
    const env = { WF_HOME: dir, STARTED_BY: join(dir, 'started-by') };
    const end = (index: number) => (index % 3 === 0 ? 'exit 0' : index % 3 === 1 ? `exit ${index}` : 'kill -USR1 $$');
    writeFileSync(join(dir, 'many.yaml'), manySteps(end));
    const run = await wf(['run', '--reporter', 'quiet', 'many.yaml'], { cwd: dir, env });
    expect(run.code).toBe(0);
    const summary = JSON.parse((await wf(['status', '--json'], { cwd: dir, env })).stdout) as RunSummary;
    const ends = summary.steps.map(({ exitCode, signal }) => [exitCode, signal]);
    expect(ends).toEqual(
      Array.from(
        { length: count },
        (_, index) =>
          [
            [0, null],
            [index, null],
            [138, 'SIGUSR1'],
          ][index % 3],
      ),
    );
    const starters = startedBy(env.STARTED_BY);
    expect(starters.length).toBeGreaterThan(1);
    await expect.poll(() => starters.filter((pid) => readProcess(pid)?.hasMemory)).toEqual([]);
  });
});

test('no starter remains when wf is killed and its run found lost', async () => {
  await withDirectory(async (dir) => {
    const env = { WF_HOME: dir, STARTED_BY: join(dir, 'started-by') };
    writeFileSync(
      join(dir, 'many.yaml'),
      manySteps((index) => (index < 60 ? 'true' : 'echo waits >> waiting; sleep 300')),
    );
    const run = startWf(['run', '--reporter', 'quiet', 'many.yaml'], { cwd: dir, env });
    await expect.poll(() => readIfThere(join(dir, 'waiting')).split('\n').length).toBe(4);
    run.kill('SIGKILL');
    await run.ended;
    const summary = JSON.parse((await wf(['status', '--json'], { cwd: dir, env })).stdout) as RunSummary;
    expect([summary.status, summary.reason]).toEqual(['failed', 'lost']);
    const starters = startedBy(env.STARTED_BY);
    await expect.poll(() => starters.filter((pid) => readProcess(pid)?.hasMemory)).toEqual([]);
  });
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

test.each([0, 16])('a stop takes effect while many steps start, %i at once', async (maxActiveRuns) => {
  await withDirectory(async (dir) => {
    const env = { WF_HOME: join(dir, 'home') };
    const all = 1500;
    const steps = Array.from({ length: all }, (_, index) => `  - {name: s${index}, command: echo ${index}}\n`);
    writeFileSync(join(dir, 'fan.yaml'), `maxActiveRuns: ${maxActiveRuns}\nsteps:\n${steps.join('')}`);
    const run = startWf(['run', '--reporter', 'plain', 'fan.yaml'], { cwd: dir, env });
    await run.until(' OK ');
    run.kill('SIGTERM');
    const { code, stdout } = await run.ended;
    expect(code).toBe(143);
    expect(stdout).toContain('stopped by SIGTERM');
    expect(stdout.split(' START ').length).toBeLessThan(all / 2);
  });
});
