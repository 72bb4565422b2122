import { expect, test } from 'vitest';
import type { StoredEvent } from '#core/run/run.ts';
import { createRunFeeds } from '#daemon/live-changes.ts';
import { foldRun } from '#service/history/fold-run.ts';
import type { PastRun } from '#service/history/past-run.ts';

const warned = (seq: number, message: string): StoredEvent => ({
  type: 'run.warned',
  at: seq,
  step: null,
  message,
  seq,
});

/** A run with two known events, and a journal to which tests add events. */
function world() {
  const known = [warned(1, 'a'), warned(2, 'b')];
  const stored = {
    runId: 'r',
    workflow: null as never,
    sources: [],
    events: known,
    damage: [],
    logs: null as never,
    artifacts: null as never,
  };
  const run: PastRun = { runId: 'r', state: foldRun(null, []).state, stored, damage: [] };
  const queue: (StoredEvent | Error | 'end')[] = [];
  let wake = () => {};
  const tell = (...items: typeof queue) => {
    queue.push(...items);
    wake();
  };
  const looks: AbortSignal[] = [];
  const feeds = createRunFeeds({
    follow: async function* (_, signal) {
      looks.push(signal);
      signal.addEventListener('abort', () => wake());
      for (;;) {
        const next = queue.shift();
        if (next === 'end' || signal.aborted) return;
        if (next instanceof Error) throw next;
        if (next !== undefined) yield next;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  });
  const follow = async (after: number, signal = new AbortController().signal) => {
    const told: string[] = [];
    for await (const events of feeds.follow(run, after, signal)) {
      for (const event of events) told.push(`${event.seq}${event.type === 'run.warned' ? event.message : ''}`);
    }
    return told;
  };
  return { follow, tell, looks };
}

test('each follower receives the events after its own position', async () => {
  const { follow, tell, looks } = world();
  const told = [follow(0), follow(1), follow(2), follow(9)];
  tell(warned(3, 'c'), 'end');

  expect(await Promise.all(told)).toEqual([['1a', '2b', '3c'], ['2b', '3c'], ['3c'], []]);
  expect(looks.map(({ aborted }) => aborted)).toEqual([true]);
});

test('events after a cut are sent again, also to later followers', async () => {
  const { follow, tell } = world();
  const early = follow(0);
  tell(warned(3, 'c'));
  await Promise.resolve();
  tell(warned(2, 'B'), warned(3, 'C'));
  await new Promise((resolve) => void setImmediate(resolve));
  const late = follow(0);
  tell('end');

  expect(await late).toEqual(['1a', '2B', '3C']);
  expect((await early).slice(-2)).toEqual(['2B', '3C']);
});

test('a journal that cannot be read ends all its followers with the error, and the next follower reads it again', async () => {
  const { follow, tell, looks } = world();
  const told = [follow(0), follow(2)].map((each) => each.catch(String));
  tell(new Error('no disk'));

  expect(await Promise.all(told)).toEqual(['Error: no disk', 'Error: no disk']);
  tell('end');
  expect(await follow(1)).toEqual(['2b']);
  expect(looks.length).toBe(2);
});

test('a follower that stops ends at once, and the others continue', async () => {
  const { follow, tell, looks } = world();
  const stop = new AbortController();
  const leaving = follow(0, stop.signal);
  const staying = follow(0);
  await new Promise((resolve) => void setImmediate(resolve));
  stop.abort();

  expect(await leaving).toEqual(['1a', '2b']);
  expect(looks[0]?.aborted).toBe(false);
  tell('end');
  expect(await staying).toEqual(['1a', '2b']);
});
