import { expect, test } from 'vitest';
import type { DaemonSchedule, RunHead } from '#run-view/api/types.ts';
import { holdDaemon, requestOf, runHead } from './held-daemon.ts';

holdDaemon();
const { System } = await import('#page/data/system.ts');

type Running = readonly RunHead[];

const schedule = (missed: number) => ({ moments: [], missed }) as unknown as DaemonSchedule;

/** Answers the requests of one reading, whose queue has these runs. */
async function answer(running: Running) {
  (await requestOf('GET /api/v2/info')).answer({});
  (await requestOf('GET /api/v2/queue')).answer({ limit: 1, running, waiting: [] });
  (await requestOf('GET /api/v2/locks')).answer({ locks: [] });
  (await requestOf('GET /api/v2/schedule')).answer(schedule(0));
  (await requestOf('GET /api/v2/config')).answer({ settings: [] });
}

/** Reads the system, then again; `during` is called while the second response is awaited. */
async function readTwice(first: Running, second: Running, during: (system: InstanceType<typeof System>) => void) {
  const system = new System();
  const reading = system.refresh();
  await answer(first);
  await reading;
  const again = system.refresh();
  during(system);
  await answer(second);
  await again;
  return system.known.value.value;
}

test('an event of another run does not keep the old queue', async () => {
  const shown = await readTwice([runHead('r1')], [runHead('r2')], (system) => system.takeRun(runHead('other')));

  expect(shown?.queue).toEqual({ limit: 1, running: [runHead('r2')], waiting: [] });
});

test('a run of the queue that changes while the queue is read is shown as changed', async () => {
  const changed = runHead('r1', { status: 'canceling' });
  const shown = await readTwice([runHead('r1')], [runHead('r1')], (system) => system.takeRun(changed));

  expect(shown?.queue.running).toEqual([changed]);
});

test('a queue and a schedule that change while they are read are kept', async () => {
  const shown = await readTwice([runHead('r1')], [runHead('r1')], (system) => {
    system.takeRun(runHead('r2'));
    system.takeQueue({ limit: 2, running: ['r1', 'r2'], waiting: [] });
    system.takeSchedule(schedule(3));
  });

  expect(shown?.queue).toEqual({ limit: 2, running: [runHead('r1'), runHead('r2')], waiting: [] });
  expect(shown?.schedule).toEqual(schedule(3));
});

test('an unknown run of the queue is read', async () => {
  const system = new System();
  const reading = system.refresh();
  await answer([runHead('r1')]);
  await reading;
  system.takeQueue({ limit: 1, running: ['r2'], waiting: [] });
  await answer([runHead('r2')]);

  await expect.poll(() => system.known.value.value?.queue.running).toEqual([runHead('r2')]);
});
