import { expect, test } from 'vitest';
import { RecentRuns, type RecentRunsParts } from '#daemon/recent-runs.ts';

test('a workflow without its last runs is reported once they are read, also for another request', async () => {
  const files = Array.from({ length: 30 }, (_, index) => `/${index}.yaml`);
  const { recent, changed, reported, idle } = world(files);
  await recent.read(files);
  // A request waits for 500 runs, those of 25 workflows.
  const later = files.slice(25);

  await recent.read(later.slice(-1));
  await recent.read(files);
  await idle();

  expect([changed, reported]).toEqual([later, []]);
  expect(files.filter((file) => recent.of(file) === null)).toEqual([]);
});

test('an error in the background is reported, and the next request continues', async () => {
  const files = Array.from({ length: 30 }, (_, index) => `/${index}.yaml`);
  const { recent, reported, idle, refuse } = world(files);
  await recent.read(files);
  refuse(new Error('no such thing'));
  await idle();
  expect(reported).toEqual([new Error('no such thing')]);

  refuse(null);
  await recent.read(files);
  await idle();
  expect(files.filter((file) => recent.of(file) === null)).toEqual([]);
});

/** Workflows with 20 runs each, all without a journal; `refuse`: reading them throws an error. */
function world(files: readonly string[]) {
  const changed: string[] = [];
  const reported: unknown[] = [];
  let refusal: Error | null = null;
  const recent = new RecentRuns({
    archive: {
      readEvents: () => {
        if (refusal !== null) throw refusal;
        return { events: [], damage: [] };
      },
      read: () => null,
      list: () => [],
      statuses: () => ({ of: () => null, durationOf: () => null, keep: () => {}, save: () => {} }),
    } as unknown as RecentRunsParts['archive'],
    files: () => files,
    idsOf: (file, most) => Array.from({ length: most }, (_, index) => `${file}-${index}`),
    knownRun: () => null,
    changed: (file) => changed.push(file),
    report: (error) => reported.push(error),
  });
  /** Resolves when nothing is left to read in the background. */
  const idle = async () => {
    for (let turns = 0; turns < 2 * files.length; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const refuse = (error: Error | null) => {
    refusal = error;
  };
  return { recent, changed, reported, idle, refuse };
}
