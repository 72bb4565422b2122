import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { uses } from '#fast/accelerators.ts';
import { journalOf } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

/** More steps than a run starts without the starter of programs. */
const count = 60;

const quickSteps = Array.from({ length: count }, (_, at) => `  - { name: q${at}, command: touch q${at} }\n`).join('');
/** A long step behind many short ones, and others that wait for its place. */
const long = `maxActiveRuns: 1
steps:
${quickSteps}  - name: long
    command: sh -c 'echo ready; sleep 60'
${Array.from({ length: 10 }, (_, at) => `  - { name: later${at}, command: touch later${at} }\n`).join('')}`;

/** Each step takes a slot as long as it runs, and says so if none of two is free. */
const overlapping = `maxActiveRuns: 2
steps:
${Array.from(
  { length: count },
  (_, at) => `  - name: s${at}
    script: |
      mkdir one 2>/dev/null && slot=one || { mkdir two 2>/dev/null && slot=two; } || { touch three; exit 1; }
      rmdir $slot
`,
).join('')}`;

/** The most steps that were scheduled or running at once. */
function mostActive(place: Place, runId: string): number {
  const active = new Set<unknown>();
  let most = 0;
  for (const event of journalOf(place, runId)) {
    const { step } = event as { readonly step?: string };
    if (event.type === 'step.scheduled') active.add(step);
    if (event.type === 'step.finished') active.delete(step);
    most = Math.max(most, active.size);
  }
  return most;
}

const laterFiles = ({ cwd }: Place) => readdirSync(cwd).filter((name) => name.startsWith('later'));

describe.skipIf(!uses('starter'))('a run of many short steps with a limit', () => {
  it('keeps the limit, though it schedules steps ahead', async () => {
    await withPlace({ 'many.yaml': overlapping }, async (place) => {
      expect(await place.wf('run', 'many.yaml', '--run-id', 'r1', '--reporter', 'quiet')).toMatchObject({ code: 0 });
      expect(existsSync(join(place.cwd, 'three'))).toBe(false);
      if (existsSync('/usr/bin/python3')) expect(mostActive(place, 'r1')).toBe(6);
    });
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGKILL', null],
  ] as const)('starts no further step after %s', async (signal, code) => {
    await withPlace({ 'long.yaml': long }, async (place) => {
      const run = place.start('run', 'long.yaml', '--run-id', 'r1', '--reporter', 'plain');
      await run.until('| ready');
      run.kill(signal);
      expect((await run.ended).code).toBe(code);
      const { steps } = await place.json('status', 'r1');
      expect(steps.slice(0, count).every(({ status }) => status === 'succeeded')).toBe(true);
      expect(steps[count]).toMatchObject({ name: 'long', status: signal === 'SIGKILL' ? 'failed' : 'canceled' });
      expect(steps.slice(count + 1).filter(({ startedAt }) => startedAt !== null)).toEqual([]);
      expect(laterFiles(place)).toEqual([]);
      if (signal === 'SIGKILL') return;
      expect(new Set(steps.slice(count + 1).map(({ status }) => status))).toEqual(new Set(['canceled']));
    });
  });

  it('shows the steps ahead as waiting', async () => {
    await withPlace({ 'long.yaml': long }, async (place) => {
      const run = place.start('run', 'long.yaml', '--run-id', 'r1', '--reporter', 'plain');
      await run.until('| ready');
      const { stdout } = await place.wf('status', 'r1');
      expect(stdout.match(/^.* later\d .*$/gm)).toHaveLength(10);
      expect(stdout.match(/^ +○ later\d +waits for its turn$/gm)).toHaveLength(10);
      run.kill('SIGTERM');
      await run.ended;
    });
  });

  it('starts the steps ahead, each once, when the long step has ended', async () => {
    await withPlace({ 'long.yaml': long.replace('sleep 60', 'sleep 0.5') }, async (place) => {
      expect((await place.wf('run', 'long.yaml', '--run-id', 'r1')).code).toBe(0);
      expect(laterFiles(place)).toHaveLength(10);
      expect(journalOf(place, 'r1').filter(({ type }) => type === 'step.started')).toHaveLength(count + 11);
    });
  });
});
