import { expect, test } from 'vitest';
import { DaemonChanges } from '#daemon/live-changes.ts';
import { createFakeClock } from '../support/fake-clock.ts';

test.each(['a suspension', 'the next start'])('%s is sent after a failed read of the schedules', async (what) => {
  const { changes, pass, set, reported } = await world();
  if (what === 'a suspension') set({ until: Number.POSITIVE_INFINITY, stamp: '2', isFailing: true });
  else set({ next: 1_020_000, isFailing: true });
  await pass(12_000);
  expect([changes.since(0), reported.length > 0]).toEqual([[], true]);

  set({ isFailing: false });
  await pass(250);

  expect(changes.since(0)).toEqual([{ position: 1, change: { kind: 'workflow', file: '/a.yaml' } }]);
});

test('a suspension that is undone before the next check is sent twice', async () => {
  const { changes, set } = await world();
  const change = { kind: 'workflow', file: '/a.yaml' };
  set({ until: Number.POSITIVE_INFINITY, stamp: '2' });
  changes.suspensionChanged();
  expect(changes.since(0)).toEqual([{ position: 1, change }]);
  set({ until: null, stamp: '3' });
  changes.suspensionChanged();
  expect(changes.since(1)).toEqual([{ position: 2, change }]);
});

test('a failed read of the schedules does not undo a suspension', async () => {
  const { changes, set, pass, reported } = await world();
  set({ until: Number.POSITIVE_INFINITY, stamp: '2', isFailing: true });
  changes.suspensionChanged();
  expect([changes.since(0), reported.length]).toEqual([[], 1]);
  set({ isFailing: false });
  await pass(250);
  expect(changes.since(0)).toEqual([{ position: 1, change: { kind: 'workflow', file: '/a.yaml' } }]);
});

/** A reader of the changes of one workflow, whose next start is ten seconds away. */
async function world() {
  const clock = createFakeClock();
  const reported: unknown[] = [];
  let state = { until: null as number | null, next: 1_010_000, stamp: '1', isFailing: false };
  const changes = new DaemonChanges({
    runIndex: { refresh: async () => {}, watch: () => {}, attend: () => () => {} },
    catalog: { watch: () => () => {} },
    workflows: {
      list: () => [{ file: '/a.yaml', name: 'a', group: '', workflow: null, diagnostics: [], sources: [] }],
      version: () => 1,
      suspendedUntil: () => {
        if (state.isFailing) throw new Error('too many open files');
        return state.until;
      },
      suspensionStamp: () => state.stamp,
      nextOf: () => new Date(state.next),
    },
    daemon: () => ({ version: '', running: 0, queued: 0, awaitingApproval: 0 }),
    queue: () => ({}),
    scheduleStamp: () => null,
    clock,
    report: (error) => reported.push(error),
  });
  await changes.join(() => {}, null);
  return {
    changes,
    reported,
    set: (changed: Partial<typeof state>) => {
      state = { ...state, ...changed };
    },
    /** Passes time, with every check that is due. */
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        clock.advance(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}
