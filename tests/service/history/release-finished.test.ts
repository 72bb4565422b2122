import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localJudge } from '#engine/local/local-engine.ts';
import { createHistory } from '#service/history/history.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { systemClock } from '#system/clock.ts';
import { temporaryDirectory } from '../../store/world.ts';
import { step, workflow } from '../../support/workflow.ts';

const owner = { pid: 4_194_305, startTime: 1, boot: 'another boot', host: 'h' };
const snapshot = { runId: 'r1', workflow: workflow({ name: 'w', file: '/w.yaml', steps: [step('a')] }), sources: [] };
const created = {
  type: 'run.created',
  at: 1,
  runId: 'r1',
  ...{ workflow: 'w', group: '', file: '/w.yaml', retryOf: null, params: [] },
  trigger: 'cli',
} as const;
const finished = { type: 'run.finished', at: 9, status: 'succeeded', reason: null, message: '' } as const;

/** A run whose process wrote its last event, and has not closed it. */
function finishedRun(isAlive: () => boolean) {
  const runsDir = join(temporaryDirectory(), 'runs');
  const store = createFileStore({ runsDir, identify: () => owner, isAlive });
  const journal = store.create(snapshot, { logDir: null });
  journal.append([created, { type: 'run.owned', at: 1, owner }, finished]);
  const file = join(journal.scratch(), 'output');
  writeFileSync(file, 'a secret');
  const processes = { find: () => [], end: async () => {} };
  const judge = localJudge({ archive: store, isAlive });
  const history = createHistory({ archive: store, clock: systemClock, judge, processes }, { cwd: '/', any: true });
  return { store, history, file };
}

test('the files that a process left at the end of its run are removed when the run is looked at', async () => {
  const { store, history, file } = finishedRun(() => false);
  expect([existsSync(file), store.mayGoOn('r1')]).toEqual([true, true]);
  const { state } = await history.find('r1');
  expect([state.status, existsSync(file), store.mayGoOn('r1')]).toEqual(['succeeded', false, false]);
  expect((await history.find('r1')).state).toEqual(state);
});

test('they stay while the process lives, which still closes its run', async () => {
  const { store, history, file } = finishedRun(() => true);
  await history.find('r1');
  expect([existsSync(file), store.mayGoOn('r1')]).toEqual([true, true]);
});
