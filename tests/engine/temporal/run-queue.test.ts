import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { QueueEntry } from '#engine/temporal/protocol.ts';
import { type QueueNotice, RunQueue } from '#engine/temporal/workflow/run-queue.ts';

const empty = { slots: [], waiting: [] };

function entry(number: number, limit = 1): QueueEntry {
  return { runId: `run-${number}`, workflow: 'load', limit, startedAt: number };
}

function admitted(notices: readonly QueueNotice[]): readonly string[] {
  return notices.flatMap((notice) => (notice.type === 'admitted' ? [notice.to] : []));
}

it('runs get their slots in the order of their starts, whatever the order of their messages', () => {
  const queue = new RunQueue(empty);
  const begun = [1, 4, 2, 3].flatMap((number) => admitted(queue.enter(entry(number), 0)));
  const later = ['run-1', 'run-2', 'run-3', 'run-4'].flatMap((runId) => admitted(queue.leave([runId], 0)));
  expect({ begun, later, isEmpty: queue.isEmpty }).toEqual({
    begun: ['run-1'],
    later: ['run-2', 'run-3', 'run-4'],
    isEmpty: true,
  });
});

it('a run that waits knows who has the slot, and a message is not repeated', () => {
  const queue = new RunQueue(empty);
  queue.enter(entry(1), 7);
  const holder = { runId: 'run-1', workflow: 'load', step: null, since: 7 };
  expect(queue.enter(entry(2), 8)).toEqual([{ to: 'run-2', type: 'blocked', holder }]);
  expect(queue.enter(entry(3), 9)).toEqual([{ to: 'run-3', type: 'blocked', holder }]);
  expect(queue.leave(['run-1'], 10)).toEqual([
    { to: 'run-2', type: 'admitted' },
    { to: 'run-3', type: 'blocked', holder: { ...holder, runId: 'run-2', since: 10 } },
  ]);
});

it('of many runs, only the first ten hear of each new holder', () => {
  const queue = new RunQueue(empty);
  const notices = Array.from({ length: 100 }, (_, number) => queue.enter(entry(number), 0)).flat();
  expect(notices.filter((notice) => notice.type === 'blocked' && notice.holder === null).length).toBe(89);
  expect(queue.leave(['run-0'], 0).map(({ to }) => to)).toEqual([
    'run-1',
    ...Array.from({ length: 10 }, (_, index) => `run-${index + 2}`),
  ]);
});

it('a run that waits for an approval gives its slot to the next, and takes it again beyond the limit', () => {
  const queue = new RunQueue(empty);
  queue.enter(entry(1), 0);
  queue.enter(entry(2), 0);
  expect(admitted(queue.hold('run-1', true, 0))).toEqual(['run-2']);
  expect(queue.hold('run-1', false, 0)).toEqual([]);
  queue.enter(entry(3), 0);
  expect([queue.leave(['run-2'], 0), queue.leave(['run-1'], 0)].map(admitted)).toEqual([[], ['run-3']]);
});

it('a repeated request of a run with a slot is answered again', () => {
  const queue = new RunQueue(empty);
  expect([queue.enter(entry(1), 0), queue.enter(entry(1), 5)].map(admitted)).toEqual([['run-1'], ['run-1']]);
  expect(queue.state.slots.length).toBe(1);
});

type Act = { readonly type: 'enter' | 'leave' | 'hold' | 'release' | 'continue'; readonly run: number };

const acts = fc.array(
  fc.record<Act>({
    type: fc.constantFrom('enter', 'leave', 'hold', 'release', 'continue'),
    run: fc.integer({ min: 0, max: 7 }),
  }),
  { maxLength: 60 },
);

it('no history of messages gives out too many slots, or lets a free one wait', () => {
  fc.assert(
    fc.property(acts, fc.integer({ min: 1, max: 3 }), (history, limit) => {
      let queue = new RunQueue(empty);
      const model = new Model(limit);
      for (const act of history) {
        const runId = `run-${act.run}`;
        if (act.type === 'continue') queue = new RunQueue(JSON.parse(JSON.stringify(queue.state)));
        const notices = {
          enter: () => queue.enter(entry(act.run, limit), 0),
          leave: () => queue.leave([runId], 0),
          hold: () => queue.hold(runId, true, 0),
          release: () => queue.hold(runId, false, 0),
          continue: () => [],
        }[act.type]();
        expect(admitted(notices)).toEqual(model.after(act));
        expect(queue.isEmpty).toBe(model.runs.size === 0);
      }
    }),
  );
});

/** A second description of a queue, in which the number of a run is the time of its start. */
class Model {
  readonly runs = new Map<number, 'waiting' | 'running' | 'held'>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The runs that are admitted after a message. */
  after({ type, run }: Act): readonly string[] {
    const before = this.runs.get(run);
    const has = before !== undefined && before !== 'waiting';
    if (type === 'enter' && before === undefined) this.runs.set(run, 'waiting');
    if (type === 'leave') this.runs.delete(run);
    if (type === 'hold' && has) this.runs.set(run, 'held');
    if (type === 'release' && has) this.runs.set(run, 'running');
    const running = [...this.runs.values()].filter((status) => status === 'running').length;
    const waiting = [...this.runs.keys()].filter((one) => this.runs.get(one) === 'waiting').sort((a, b) => a - b);
    const next = waiting.slice(0, Math.max(0, this.#limit - running));
    for (const one of next) this.runs.set(one, 'running');
    return [...(type === 'enter' && has ? [run] : []), ...next].map((one) => `run-${one}`);
  }
}

type LockAct = {
  readonly type: 'enter' | 'leave' | 'end' | 'wait' | 'continue';
  readonly number: number;
  readonly isReader: boolean;
  readonly slots: number;
};

const lockActs = fc.array(
  fc.record<LockAct>({
    type: fc.constantFrom('enter', 'leave', 'end', 'wait', 'continue'),
    number: fc.integer({ min: 0, max: 7 }),
    isReader: fc.boolean(),
    slots: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 60 },
);

it('no history of requests gives out too many slots of a lock, mixes readers with others, or exceeds its rate', () => {
  fc.assert(
    fc.property(lockActs, fc.constantFrom(undefined, 1, 2), (history, perMinute) => {
      const limit = 3;
      let queue = new RunQueue(empty);
      let now = 0;
      const asked = new Map<string, LockAct>();
      const taken: { readonly at: number }[] = [];
      const order: string[] = [];
      for (const act of history) {
        now += act.type === 'wait' ? 25_000 : 1;
        const runId = `run-${act.number % 3}`;
        const id = `${runId}#${act.number}`;
        if (act.type === 'continue') queue = new RunQueue(JSON.parse(JSON.stringify(queue.state)));
        if (act.type === 'enter' && asked.has(id)) continue;
        const notices = {
          enter: () => {
            asked.set(id, act);
            order.push(id);
            const { isReader, slots } = act;
            const mode = isReader ? 'read' : 'write';
            const lock = { id, step: 'a', mode, slots, ...(perMinute === undefined ? {} : { perMinute }) } as const;
            return queue.enter({ runId, workflow: 'load', limit, startedAt: now, lock }, now);
          },
          leave: () => queue.leave([id], now),
          end: () => queue.leave([runId], now),
          wait: () => queue.pass(now),
          continue: () => [],
        }[act.type]();
        for (const [known] of asked) {
          const isGone = act.type === 'leave' ? known === id : act.type === 'end' && known.startsWith(`${runId}#`);
          if (isGone) {
            asked.delete(known);
            order.splice(order.indexOf(known), 1);
          }
        }
        for (const notice of notices) {
          if (notice.type === 'admitted') taken.push({ at: now });
        }
        const holders = queue.state.slots.map(({ lock }) => lock?.id ?? '');
        const held = holders.map((holder) => asked.get(holder));
        // Those who hold it are the first that asked.
        expect(new Set(holders)).toEqual(new Set(order.slice(0, holders.length)));
        expect(new Set(held.map((one) => one?.isReader)).size).toBeLessThan(2);
        if (held[0]?.isReader === false) expect(held.reduce((sum, one) => sum + (one?.slots ?? 9), 0)).toBeLessThan(4);
        const recent = taken.filter(({ at }) => now - at < 60_000).length;
        expect(recent).toBeLessThanOrEqual(perMinute ?? Number.POSITIVE_INFINITY);
        // A request that fits does not wait.
        const next = asked.get(order[holders.length] ?? '');
        const isFree =
          next !== undefined &&
          recent < (perMinute ?? Number.POSITIVE_INFINITY) &&
          held.every((one) => one?.isReader === next.isReader) &&
          (next.isReader || held.reduce((sum, one) => sum + (one?.slots ?? 0), next.slots) <= limit);
        expect(isFree && act.type !== 'continue').toBe(false);
      }
    }),
  );
});
