import { expect, test } from 'vitest';
import { RecentRuns, type RecentRunsParts } from '../../src/daemon/recent-runs.ts';

test('a workflow without its last runs is reported once they are read, also for another request', async () => {
  const files = Array.from({ length: 30 }, (_, index) => `/${index}.yaml`);
  const { recent, changed, idle } = world(files);
  await recent.read(files);
  // A request waits for 500 runs, those of 25 workflows.
  const later = files.slice(25);

  await recent.read(later.slice(-1));
  await recent.read(files);
  await idle();

  expect(changed).toEqual(later);
  expect(files.filter((file) => recent.of(file) === null)).toEqual([]);
});

/** Workflows with 20 runs each, all without a journal. */
function world(files: readonly string[]) {
  const changed: string[] = [];
  const recent = new RecentRuns({
    archive: {
      readEvents: () => ({ events: [], damage: [] }),
      read: () => null,
    } as unknown as RecentRunsParts['archive'],
    stamps: { ofRun: () => '' },
    recentCache: { read: () => null, write: () => {} },
    files: () => files,
    idsOf: (file, most) => Array.from({ length: most }, (_, index) => `${file}-${index}`),
    knownRun: () => null,
    changed: (file) => changed.push(file),
    report: (error) => {
      throw error;
    },
  });
  /** Resolves when nothing is left to read in the background. */
  const idle = async () => {
    for (let turns = 0; turns < 2 * files.length; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { recent, changed, idle };
}
