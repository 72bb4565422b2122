import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';

const files = {
  'good.yaml': 'steps: [{name: a, command: "true"}]\n',
  'bad.yaml': 'steps: [{name: a, command: "false"}]\n',
};
const ROUNDS = 6;
const RUNS_PER_ROUND = 6;

type Listed = { readonly runId: string; readonly workflow: string; readonly status: string };

test('remembered statuses are right while runs finish and readers are killed in the middle', async () => {
  await withPlace(files, async (place) => {
    const statuses = join(place.runsDir, '.statuses');
    for (let round = 0; round < ROUNDS; round++) {
      // Lines of no use make the next reader rewrite the file instead of adding to it.
      if (existsSync(statuses)) appendFileSync(statuses, 'x\n'.repeat(2000));
      const names = Array.from({ length: RUNS_PER_ROUND }, (_, at) => (at % 2 === 0 ? 'good.yaml' : 'bad.yaml'));
      const runs = names.map((name) => place.wf('run', name, '--reporter', 'quiet'));
      const readers = Array.from({ length: 8 }, (_, at) => killedReader(place, 20 + 12 * at));
      await Promise.all([...runs, ...readers]);
      await expectRight(place, (round + 1) * RUNS_PER_ROUND);
    }
    // The last reader has left a file of use, which is no longer than its entries.
    expect(statSync(statuses).size).toBeLessThan(100 * ROUNDS * RUNS_PER_ROUND);
    expect(readFileSync(statuses, 'utf8')).not.toContain('x\nx\n');
    rmSync(statuses);
    await expectRight(place, ROUNDS * RUNS_PER_ROUND);
  });
});

/** Reads statuses, and is killed after the time unless it has finished. */
async function killedReader({ start }: Place, afterMs: number): Promise<void> {
  const reader = start('history', '--status', 'failed', '--limit', '1000');
  const timer = setTimeout(() => reader.kill('SIGKILL'), afterMs);
  await reader.ended;
  clearTimeout(timer);
}

/** Expects each status to be selected for exactly the runs that have it. */
async function expectRight({ json }: Place, count: number): Promise<void> {
  const all = ['--limit', '1000'];
  const failed = await json<readonly Listed[]>('history', '--status', 'failed', ...all);
  const succeeded = await json<readonly Listed[]>('history', '--status', 'succeeded', ...all);

  expect([failed.length, succeeded.length]).toEqual([count / 2, count / 2]);
  expect(new Set(failed.map(({ workflow, status }) => `${workflow} ${status}`))).toEqual(new Set(['bad failed']));
  expect(new Set(succeeded.map(({ workflow, status }) => `${workflow} ${status}`))).toEqual(
    new Set(['good succeeded']),
  );
}
