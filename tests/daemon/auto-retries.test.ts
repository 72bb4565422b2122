import { expect, test } from 'vitest';
import type { RunState } from '#core/run/run-state.ts';
import { AutoRetries, type AutoRetryParts } from '#daemon/auto-retries.ts';
import { foldRun } from '#service/history/fold-run.ts';
import { WfError } from '#system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const policy = { limit: 1, intervalMs: 0 };
const failedRun: RunState = {
  ...foldRun(null, []).state,
  runId: 'failed',
  workflow: 'a',
  status: 'failed',
  finishedAt: 0,
  autoRetry: { ...policy, n: 0 },
};

/** Retries over a disk that holds the ids of earlier daemons. */
function retriesWith(stored: readonly string[], parts: Partial<AutoRetryParts>) {
  const disk = { stored };
  const clock = createFakeClock();
  const retries = new AutoRetries({
    clock,
    retry: async () => null,
    read: () => ({ runId: 'failed', state: failedRun, stored: null, damage: [] }),
    isRetried: async () => false,
    memory: {
      read: () => disk.stored,
      write: (runIds) => {
        disk.stored = runIds;
      },
    },
    log: () => {},
    report: () => {},
    ...parts,
  });
  return { retries, disk, clock };
}

/** A full disk until `isFull` is false. */
function fullDisk() {
  const disk = {
    isFull: true,
    stored: [] as readonly string[],
    read: () => disk.stored,
    write: (runIds: readonly string[]) => {
      if (disk.isFull) throw new WfError('storage', 'no space');
      disk.stored = runIds;
    },
  };
  return disk;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test.each([
  ['fails while the daemon exits remains for the next one', true, ['failed']],
  ['is refused is dropped', false, []],
])('a retry that %s', async (_, isClosed, expected) => {
  let fail: (error: Error) => void = () => {};
  const retry = () =>
    new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
  const { retries, disk, clock } = retriesWith(['failed'], { retry });
  retries.open();
  clock.advance(1);
  await settled();
  if (isClosed) retries.close();
  fail(new Error('the thread that reads workflows has ended'));
  await settled();
  expect([disk.stored, clock.pending()]).toEqual([expected, 0]);
});

test('a retry that the daemon prepares when it exits does not start', async () => {
  const started: string[] = [];
  const retry: AutoRetryParts['retry'] = async ({ runId }) => {
    started.push(runId);
    return null;
  };
  const { retries, disk, clock } = retriesWith(['failed'], { retry });
  retries.open();
  clock.advance(1);
  retries.close();
  await settled();
  expect([started, disk.stored]).toEqual([[], ['failed']]);
});

test('a repeated request stores a run that the first could not store', () => {
  const memory = fullDisk();
  const { retries } = retriesWith([], { memory, read: () => null });
  expect(() => retries.expect('failed', { retry: policy })).toThrow('no space');
  memory.isFull = false;
  retries.expect('failed', { retry: policy });
  expect(memory.stored).toEqual(['failed']);
});

test('a failed run that cannot be stored is retried by this daemon', async () => {
  const started: string[] = [];
  const reported: unknown[] = [];
  const { retries, clock } = retriesWith([], {
    memory: fullDisk(),
    report: (error) => reported.push(error),
    retry: async ({ runId }) => {
      started.push(runId);
      return null;
    },
  });
  retries.open();
  retries.consider({ runId: 'failed', state: failedRun, stored: null, damage: [] });
  clock.advance(1);
  await settled();
  expect([started, reported]).toMatchObject([['failed'], [{ code: 'storage' }]]);
});

test('a run that needs no retry is considered even if the disk refuses to forget it', () => {
  const reported: unknown[] = [];
  const memory = { ...fullDisk(), read: () => ['failed'] };
  const { retries } = retriesWith([], { memory, report: (error) => reported.push(error) });
  retries.consider({ runId: 'failed', state: { ...failedRun, status: 'succeeded' }, stored: null, damage: [] });
  expect(reported).toMatchObject([{ code: 'storage' }]);
});
