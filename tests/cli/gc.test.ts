import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { workflow } from '../support/workflow.ts';

const file = 'steps:\n  - name: a\n    command: echo hello\n';
const dayMs = 86_400_000;

/** Creates a run of `w.yaml` that ended `ageDays` ago. */
async function makeOld({ cwd, runsDir }: Place, runId: string, ageDays: number): Promise<void> {
  const store = createFileStore({ runsDir, identify, isAlive });
  const path = join(cwd, 'w.yaml');
  const run = store.create({ runId, workflow: workflow({ name: 'w', file: path }), sources: [] }, { logDir: null });
  const at = Date.now() - ageDays * dayMs;
  const name = { workflow: 'w', group: '', file: path };
  run.append([
    { type: 'run.created', at, runId, ...name, trigger: 'cli', retryOf: null, params: [] },
    { type: 'run.finished', at, status: 'succeeded', reason: null, message: '' },
  ]);
  await run.close();
  utimesSync(join(runsDir, runId, 'snapshot.json'), at / 1000, at / 1000);
  // The index tells when a run was made, which was just now.
  rmSync(join(runsDir, '.index'));
}

async function runIds({ json }: Place): Promise<readonly string[]> {
  return (await json<readonly RunSummary[]>('history')).map(({ runId }) => runId);
}

describe('wf gc', () => {
  it('removes runs beyond the settings of their files, and reports which and how many', async () => {
    await withPlace({ 'w.yaml': file }, async (place) => {
      await makeOld(place, 'old', 31);
      await makeOld(place, 'young', 29);
      await place.wf('run', 'w.yaml', '--run-id', 'last');
      const before = readdirSync(place.runsDir);
      const dry = await place.wf('gc', '--dry-run');
      expect(dry.stdout).toMatch(
        /^RUN +WORKFLOW +STARTED +STATUS +SIZE\nold +w +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +succeeded +\d+ KiB\nwould remove 1 run, \d+ KiB\n$/,
      );
      expect(readdirSync(place.runsDir)).toEqual(before);
      expect(await place.wf('gc')).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(/\nremoved 1 run, \d+ KiB\n$/),
      });
      expect(await runIds(place)).toEqual(['last', 'young']);
      expect((await place.wf('gc')).stdout).toBe('nothing to remove\n');
    });
  });

  it('accepts a workflow, a number and a time, and prints JSON', async () => {
    await withPlace({ 'w.yaml': file, 'other.yaml': file }, async (place) => {
      for (const [id, age] of [
        ['a', 5],
        ['b', 4],
        ['c', 3],
      ] as const)
        await makeOld(place, id, age);
      await place.wf('run', 'other.yaml', '--run-id', 'o1');
      await place.wf('run', 'other.yaml', '--run-id', 'o2');
      const json = async (...args: readonly string[]) => JSON.parse((await place.wf('gc', ...args, '--json')).stdout);
      expect(await json('w.yaml', '--keep', '2')).toEqual({
        dryRun: false,
        removed: [
          {
            runId: 'a',
            workflow: 'w',
            group: '',
            file: join(place.cwd, 'w.yaml'),
            status: 'succeeded',
            createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
            bytes: expect.any(Number),
          },
        ],
        freedBytes: expect.any(Number),
        problems: [],
      });
      expect((await json('--older-than', '1d')).removed.map(({ runId }: { runId: string }) => runId)).toEqual(['b']);
      expect(await runIds(place)).toEqual(['o2', 'o1', 'c']);
    });
  });

  it.each([
    [['--keep', '0'], '--keep must be at least 1'],
    [['--older-than', 'week'], '--older-than "week" is not a duration'],
    [['gone'], 'no run and no workflow that has run is called "gone"'],
  ])('refuses %j', async (args, message) => {
    await withPlace({ 'w.yaml': file }, async (place) => {
      await makeOld(place, 'old', 50);
      expect(await place.wf('gc', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
      expect(await runIds(place)).toEqual(['old']);
    });
  });

  it('follows historyKeepRuns', async () => {
    await withPlace({ 'w.yaml': file }, async (place) => {
      for (const id of ['a', 'b', 'c']) await place.wf('run', 'w.yaml', '--run-id', id);
      writeFileSync(join(place.cwd, 'home/config.yaml'), 'historyKeepRuns: 2\n');
      expect((await place.wf('gc')).stdout).toContain('removed 1 run');
      expect(await runIds(place)).toEqual(['c', 'b']);
    });
  });

  it('leaves running runs alone, also with several removals at once', async () => {
    const slow = 'steps:\n  - name: a\n    command: sh -c "echo ready; until [ -e go ]; do sleep 0.02; done"\n';
    await withPlace({ 'w.yaml': slow }, async (place) => {
      const first = place.start('run', 'w.yaml', '--run-id', 'first');
      await first.until('| ready');
      const second = place.start('run', 'w.yaml', '--run-id', 'second');
      await second.until('| ready');
      for (const [id, age] of [
        ['a', 50],
        ['b', 40],
      ] as const)
        await makeOld(place, id, age);
      const removed = await Promise.all([0, 1, 2].map(() => place.wf('gc', '--keep', '1', '--json')));
      expect(removed.map(({ code }) => code)).toEqual([0, 0, 0]);
      const ids = removed.flatMap(({ stdout }) =>
        JSON.parse(stdout).removed.map((run: { runId: string }) => run.runId),
      );
      expect(ids.toSorted()).toEqual(['a', 'b']);
      writeFileSync(join(place.cwd, 'go'), '');
      expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
      expect(await runIds(place)).toEqual(['second', 'first']);
    });
  });
});

describe('after a run', () => {
  it('removes old runs, once a day', async () => {
    await withPlace({ 'w.yaml': file }, async (place) => {
      const stamp = join(place.runsDir, '.tidied');
      await makeOld(place, 'old', 50);
      await place.wf('run', 'w.yaml', '--run-id', 'a');
      expect([existsSync(stamp), await runIds(place)]).toEqual([true, ['a', 'old']]);
      utimesSync(stamp, 0, 0);
      expect(await place.wf('run', 'w.yaml', '--run-id', 'b')).toMatchObject({ code: 0, stderr: '' });
      expect(await runIds(place)).toEqual(['b', 'a']);
      await makeOld(place, 'older', 60);
      await place.wf('run', 'w.yaml', '--run-id', 'c');
      expect(await runIds(place)).toEqual(['c', 'b', 'a', 'older']);
    });
  });

  it('removes nothing without a history', async () => {
    await withPlace({ 'w.yaml': file }, async (place) => {
      await place.wf('run', 'w.yaml', '--no-history');
      expect(existsSync(place.runsDir)).toBe(false);
    });
  });
});
