import { expect, it } from 'vitest';
import type { RunCreated } from '#core/run/run.ts';
import { LateStarts } from '#daemon/late-starts.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function world(created: Readonly<Record<string, Partial<RunCreated>>>) {
  const clock = createFakeClock();
  const queued = new Set(Object.keys(created));
  const recorded: string[] = [];
  const lines: string[] = [];
  const late = new LateStarts({
    clock,
    readCreated: (runId) => (created[runId] ?? null) as RunCreated | null,
    isQueued: (runId) => queued.has(runId),
    record: async (runId) => recorded.push(runId) > 0,
    log: (line) => void lines.push(line),
    report: (error) => {
      throw error;
    },
  });
  return { clock, late, queued, recorded, lines };
}

it('a waiting run is recorded as late once, at the first of its times', async () => {
  const { clock, late, recorded, lines } = world({ a: { startBy: 1_001_000, lateBy: 1_002_000 }, b: {} });
  for (const runId of ['a', 'b']) late.check(runId);
  clock.advance(999);
  late.check('a');
  expect(recorded).toEqual([]);
  clock.advance(1);
  for (const runId of ['a', 'a', 'b']) late.check(runId);
  await Promise.resolve();
  expect([recorded, lines]).toEqual([['a'], ['run a is late: it has not started']]);
});

it('a run that is being started records itself that it is late', () => {
  const { late, queued, recorded } = world({ a: { startBy: 0 } });
  queued.delete('a');
  late.check('a');
  expect(recorded).toEqual([]);
  // Its process died before the first step.
  late.forget('a');
  queued.add('a');
  late.check('a');
  expect(recorded).toEqual(['a']);
});
