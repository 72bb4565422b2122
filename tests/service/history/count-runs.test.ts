import { expect, test } from 'vitest';
import type { FinishedStatus } from '#core/run/run.ts';
import { countByHour, HOUR_MS } from '#service/history/history.ts';
import { readPastRun } from '#service/history/past-run.ts';
import { fileStore } from '../../store/world.ts';
import { step, workflow } from '../../support/workflow.ts';

const noon = Date.UTC(2026, 2, 1, 12);
const minuteMs = 60_000;

/** A store, and the counts of some hours with the number of runs that were read for them. */
function world() {
  const { store } = fileStore();
  const make = async (at: number, status: FinishedStatus | null) => {
    const hex = at.toString(16).padStart(12, '0');
    const runId = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
    const etl = workflow({ name: 'etl', steps: [step('load')] });
    const journal = store.create({ runId, workflow: etl, sources: [] }, { logDir: null });
    const { name, group, file } = etl;
    journal.append([
      { type: 'run.created', at, runId, workflow: name, group, file, trigger: 'cli', retryOf: null, params: [] },
    ]);
    if (status !== null) journal.append([{ type: 'run.finished', at: at + 1, status, reason: null, message: '' }]);
    await journal.close();
  };
  const count = async (now: number, hours: number) => {
    let reads = 0;
    const read = async (runId: string) => {
      reads += 1;
      return readPastRun(store, runId);
    };
    const counted = await countByHour({ now, hours }, { archive: store, reach: { cwd: '/', any: true }, read });
    return { counted, reads };
  };
  return { make, count };
}

test('runs are counted by the hour of their creation and their status', async () => {
  const { make, count } = world();
  await make(noon - 61 * minuteMs, 'failed');
  await make(noon - 60 * minuteMs, 'succeeded');
  await make(noon - 1, 'failed');
  await make(noon, 'succeeded');
  await make(noon + 1, 'succeeded');
  await make(noon + 2, null);
  // The clock was set back since.
  await make(noon + HOUR_MS, 'succeeded');

  const hours = [
    { from: noon - HOUR_MS, statuses: { succeeded: 1, failed: 1 } },
    { from: noon, statuses: { succeeded: 2, queued: 1 } },
  ];
  expect((await count(noon + 3, 2)).counted).toEqual(hours);
  const again = await count(noon + 3, 2);
  expect(again.counted).toEqual(hours);
  expect(again.reads).toBe(1);
});

test('hours without runs are counted too', async () => {
  const { counted, reads } = await world().count(noon, 24);

  expect(counted).toHaveLength(24);
  expect(counted.at(-1)).toEqual({ from: noon, statuses: {} });
  expect(reads).toBe(0);
});
