import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Owner, StoredEvent } from '#core/run/run.ts';
import { localJudge } from '#engine/local/local-engine.ts';
import { identify } from '#processes/process-identity.ts';
import { createHistory, type History } from '#service/history/history.ts';
import { createFileStore, type FileStore } from '#store/files/file-store.ts';
import type { RunJournal } from '#store/store.ts';
import { systemClock } from '#system/clock.ts';
import { temporaryDirectory } from '../../store/world.ts';
import { step, workflow } from '../../support/workflow.ts';

const owner: Owner = { pid: process.pid, startTime: 7, boot: null, host: 'here' };
const name = { workflow: 'w', group: '', file: '/w.yaml' };
const created = {
  type: 'run.created',
  at: 1,
  runId: 'r1',
  ...name,
  trigger: 'cli',
  retryOf: null,
  params: [],
} as const;
const end = { type: 'run.finished', at: 9, status: 'succeeded', reason: null, message: '' } as const;
const snapshot = { runId: 'r1', workflow: workflow({ name: 'w', file: '/w.yaml', steps: [step('a')] }), sources: [] };

/** After `dies`, every other process is reported as dead. */
function world() {
  const runsDir = join(temporaryDirectory(), 'runs');
  let isDead = false;
  const isAlive = () => !isDead;
  const store = createFileStore({ runsDir, identify, isAlive });
  const processes = { find: () => [], end: async () => {} };
  // A hundred times as fast: one check of the owner per second is too slow for a test.
  const clock = {
    now: () => systemClock.now() * 100,
    elapsed: () => systemClock.elapsed() * 100,
    setTimer: (at: number, callback: () => void) => systemClock.setTimer(at / 100, callback),
  };
  const judge = localJudge({ archive: store, isAlive });
  const history = createHistory({ archive: store, clock, judge, processes }, { cwd: '/', any: true });
  return {
    runsDir,
    store,
    history,
    dies: () => {
      isDead = true;
    },
  };
}

/** The types of the returned events, and the first of them. */
function follow(history: History, run: Awaited<ReturnType<History['find']>>) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const told: StoredEvent['type'][] = [];
  const ended = (async () => {
    for await (const event of history.follow(run, stop.signal)) told.push(event.type);
    return told;
  })();
  return { ended, stop };
}

function begin(store: FileStore): RunJournal {
  const journal = store.create(snapshot, { logDir: null });
  journal.append([created, { type: 'run.owned', at: 2, owner }]);
  return journal;
}

test('events after those already read are returned, up to the end', async () => {
  const { store, history } = world();
  const journal = begin(store);
  const run = await history.find('r1');
  journal.append([{ type: 'run.started', at: 3 }]);
  const { ended } = follow(history, run);
  journal.append([end]);
  expect(await ended).toEqual(['run.started', 'run.finished']);
  expect(await follow(history, await history.find('r1')).ended).toEqual([]);
  await journal.close();
});

test('a queued run is followed from its start', async () => {
  const { store, history } = world();
  const queued = { type: 'run.queued', at: 1, by: owner, lasting: true } as const;
  await store.accept({ snapshot, logDir: null, events: [created, queued], launch: '{}' });
  const run = await history.find('w');
  expect(run.state.status).toBe('queued');
  const { ended } = follow(history, run);
  const journal = store.openForRecovery('r1');
  journal.append([{ type: 'run.owned', at: 2, owner }, { type: 'run.started', at: 3 }, end]);
  expect(await ended).toEqual(['run.owned', 'run.started', 'run.finished']);
  await journal.close();
});

test('a run whose process dies is settled and reported as lost', async () => {
  const { store, history, dies } = world();
  begin(store);
  const { ended } = follow(history, await history.find('r1'));
  dies();
  expect((await ended).at(-1)).toBe('run.finished');
  expect((await history.find('r1')).state.reason).toBe('lost');
});

test('following ends if the end of a lost run cannot be written', async () => {
  const { runsDir, store, history, dies } = world();
  begin(store);
  const { ended } = follow(history, await history.find('r1'));
  rmSync(join(runsDir, 'r1/snapshot.json'));
  dies();
  expect(await ended).toEqual([]);
});

test('following ends when it is stopped, and when the run is removed', async () => {
  const { runsDir, store, history } = world();
  begin(store);
  const [unwanted, removed] = [follow(history, await history.find('r1')), follow(history, await history.find('r1'))];
  unwanted.stop.abort();
  expect(await unwanted.ended).toEqual([]);
  rmSync(join(runsDir, 'r1'), { recursive: true });
  expect(await removed.ended).toEqual([]);
});

test('waiting for the first run of a workflow ends with the run or with a stop', async () => {
  const { store, history } = world();
  const stop = new AbortController();
  const [found, given] = [history.await('w', new AbortController().signal), history.await('other', stop.signal)];
  begin(store);
  expect((await found)?.runId).toBe('r1');
  stop.abort();
  expect(await given).toBeNull();
});
