import { describe, expect, it } from 'vitest';
import type { RunLine } from '#daemon/start-lines.ts';
import { type QueueLimits, StartQueue } from '#daemon/start-queue.ts';
import { type Carrier, CarrierDied } from '#service/runs/carrier.ts';
import { WfError } from '#system/errors.ts';
import type { Turns } from '#system/turns.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A queue whose processes begin and end when the test says so. */
function queueWith(
  limits: QueueLimits,
  lines: Readonly<Record<string, Partial<RunLine>>> = {},
  takeTurn: Turns = (work) => work(),
) {
  const clock = createFakeClock();
  const launched: string[] = [];
  const refused: string[] = [];
  const reported: unknown[] = [];
  const over = new Set<string>();
  const owned = new Set<string>();
  const carriers = new Map<string, { own: () => void; fail: (error: WfError) => void; end: () => void }>();
  const launch = (runId: string): Carrier => {
    launched.push(runId);
    let own = () => {};
    let fail: (error: WfError) => void = () => {};
    let end = () => {};
    const owning = new Promise<void>((resolve, reject) => {
      own = resolve;
      fail = reject;
    });
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    carriers.set(runId, { own, fail, end });
    return { owned: owning, ended };
  };
  const look = { find: async () => {} };
  const queue = new StartQueue({
    limits,
    clock,
    launch,
    takeTurn,
    mayGoOn: (runId) => !over.has(runId),
    lineOf: (runId) => ({ ...freeLine(runId), ...lines[runId] }),
    isWaiting: (runId) => !over.has(runId) && !owned.has(runId),
    findGuests: () => look.find(),
    refuse: async (runId, message) => refused.push(`${runId}: ${message}`),
    report: (error) => reported.push(error),
  });
  const carrier = (runId: string) => carriers.get(runId) ?? { own: () => {}, fail: () => {}, end: () => {} };
  const own = async (runId: string) => {
    carrier(runId).own();
    await settled();
  };
  const end = async (runId: string) => {
    await own(runId);
    carrier(runId).end();
    await settled();
  };
  const fail = async (runId: string, error: WfError) => {
    carrier(runId).fail(error);
    await settled();
  };
  return { queue, look, clock, launched, refused, reported, over, owned, own, end, fail };
}

/** The limits of a run that has none, of a workflow of its own. */
const freeLine = (runId: string): RunLine => ({
  queue: null,
  workflow: runId,
  maxConcurrent: Number.POSITIVE_INFINITY,
});
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const accepted = (runId: string) => async () => ({ runId, isNew: true });

describe('a queue of runs', () => {
  it('starts the preferred run next, and the others in their order', async () => {
    const { queue, launched, end } = queueWith({ running: 1, waiting: 5 });
    for (const runId of ['a', 'b', 'c', 'd']) queue.add(runId);
    queue.open();

    expect([queue.putFirst('d'), queue.putFirst('a'), queue.putFirst('x')]).toEqual([true, false, false]);
    expect(queue.waiting()).toEqual(['d', 'b', 'c']);
    for (const runId of ['a', 'd', 'b']) await end(runId);
    expect(launched).toEqual(['a', 'd', 'b', 'c']);
  });

  it('starts runs of low priority after all others, unless a user puts one first', async () => {
    const low = { isLow: true };
    const { queue, launched, end } = queueWith({ running: 1, waiting: 9 }, { x: low, y: low, z: low });
    for (const runId of ['a', 'x', 'b', 'y', 'z']) queue.add(runId);
    expect(queue.waiting()).toEqual(['a', 'b', 'x', 'y', 'z']);
    queue.putFirst('z');
    queue.add('c');
    queue.open();
    for (const runId of ['z', 'a', 'b', 'c', 'x']) await end(runId);
    expect(launched).toEqual(['z', 'a', 'b', 'c', 'x', 'y']);
  });

  it('starts nothing before it opens and after it closes', () => {
    const { queue, launched } = queueWith({ running: 5, waiting: 5 });
    queue.add('a');
    expect([launched, queue.depth()]).toEqual([[], 1]);
    queue.open();
    queue.add('b');
    expect([launched, queue.depth()]).toEqual([['a', 'b'], 0]);
    queue.close();
    queue.add('c');
    expect([launched, queue.depth()]).toEqual([['a', 'b'], 1]);
  });

  it('leaves the runs without a process to the next daemon when it closes', async () => {
    const { queue, launched, end } = queueWith({ running: 9, waiting: 9, starting: 2 });
    queue.occupy('earlier');
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd']) queue.add(runId);
    await settled();
    await end('a');
    expect([launched, queue.running()]).toEqual([
      ['a', 'b', 'c'],
      ['earlier', 'b', 'c', 'd'],
    ]);
    queue.close();
    expect(queue.running()).toEqual(['earlier', 'b', 'c']);
    await end('b');
    expect([launched, queue.running()]).toEqual([
      ['a', 'b', 'c'],
      ['earlier', 'c'],
    ]);
    queue.add('d');
    expect(queue.waiting()).toEqual(['d']);
  });

  it('leaves a run whose process died to the next daemon when it closes', async () => {
    const { queue, fail } = queueWith({ running: 9, waiting: 9 });
    queue.open();
    queue.add('a');
    await fail('a', new CarrierDied('storage', 'killed'));
    expect(queue.running()).toEqual(['a']);
    queue.close();
    expect(queue.running()).toEqual([]);
  });

  it('reports when the process of a run owns it', async () => {
    const { queue, own, end, fail } = queueWith({ running: 9, waiting: 9 });
    const { signal } = new AbortController();
    queue.occupy('earlier');
    queue.open();
    for (const runId of ['a', 'dies']) queue.add(runId);
    await settled();
    const seen: string[] = [];
    for (const runId of ['earlier', 'a', 'dies', 'unknown'])
      void queue.owned(runId, signal).then((isOwned) => seen.push(`${runId} ${isOwned}`));
    await settled();
    expect(seen).toEqual(['earlier true', 'unknown false']);
    await own('a');
    await fail('dies', new CarrierDied('storage', 'killed'));
    expect(seen.slice(2)).toEqual(['a true', 'dies false']);
    await end('a');
    expect(await queue.owned('a', signal)).toBe(false);
  });

  it('waits for the owner of a run only until the signal', async () => {
    const { queue } = queueWith({ running: 9, waiting: 9 });
    queue.open();
    queue.add('a');
    await settled();
    const impatience = new AbortController();
    const owned = queue.owned('a', impatience.signal);
    impatience.abort();
    expect(await owned).toBe(true);
    expect(await queue.owned('a', impatience.signal)).toBe(true);
  });

  it('starts runs in order, within the limit', async () => {
    const { queue, launched, end } = queueWith({ running: 2, waiting: 9 });
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd', 'e']) queue.add(runId);
    expect([launched, queue.depth(), queue.running()]).toEqual([['a', 'b'], 3, ['a', 'b']]);
    await end('b');
    expect(launched).toEqual(['a', 'b', 'c']);
    await end('a');
    await end('c');
    expect([launched, queue.depth(), queue.running()]).toEqual([['a', 'b', 'c', 'd', 'e'], 0, ['d', 'e']]);
  });

  it('starts few processes at once, until each owns its run', async () => {
    const { queue, launched, end, fail } = queueWith({ running: 9, waiting: 9, starting: 2 });
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd', 'e', 'f']) queue.add(runId);
    await settled();
    expect([launched, queue.slots()]).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c', 'd', 'e', 'f'],
    ]);
    await end('b');
    expect(launched).toEqual(['a', 'b', 'c']);
    queue.leave('d');
    await fail('a', new WfError('storage', 'no space'));
    expect(launched).toEqual(['a', 'b', 'c', 'e']);
    queue.close();
    await end('c');
    expect(launched).toEqual(['a', 'b', 'c', 'e']);
  });

  it('starts each process in a turn of its own, unless its run has left meanwhile', async () => {
    const turns: (() => void)[] = [];
    const limits = { running: 9, waiting: 9, starting: 3 };
    const { queue, launched, end } = queueWith(limits, {}, (work) => void turns.push(work));
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd']) queue.add(runId);
    await settled();
    expect([launched, turns.length]).toEqual([[], 3]);
    turns.shift()?.();
    expect(launched).toEqual(['a']);
    queue.leave('b');
    for (const work of turns.splice(0)) work();
    await settled();
    expect([launched, turns.length]).toEqual([['a', 'c'], 1]);
    await end('a');
    turns.shift()?.();
    expect(launched).toEqual(['a', 'c', 'd']);
  });

  it('the pause before a carrier is started again takes no turn', async () => {
    const { queue, clock, launched, end, fail } = queueWith({ running: 9, waiting: 9, starting: 1 });
    queue.open();
    for (const runId of ['a', 'b']) queue.add(runId);
    await settled();
    await fail('a', new CarrierDied('storage', 'it died'));
    expect(launched).toEqual(['a', 'b']);
    clock.advance(100);
    await settled();
    expect(launched).toEqual(['a', 'b']);
    await end('b');
    expect(launched).toEqual(['a', 'b', 'a']);
  });

  it('starts a run once, however often it is added', async () => {
    const { queue, launched, end } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    for (const runId of ['a', 'a', 'b', 'b', 'a']) queue.add(runId);
    expect(queue.depth()).toBe(1);
    await end('a');
    queue.add('b');
    expect(launched).toEqual(['a', 'b']);
  });

  it('counts runs of an earlier daemon', () => {
    const { queue, launched } = queueWith({ running: 2, waiting: 9 });
    queue.occupy('earlier');
    queue.open();
    queue.add('a');
    queue.add('b');
    expect(launched).toEqual(['a']);
    queue.leave('earlier');
    expect(launched).toEqual(['a', 'b']);
  });

  it('skips a run that was stopped while it waited', async () => {
    const { queue, launched, over, end } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd']) queue.add(runId);
    queue.leave('b');
    over.add('c');
    expect(queue.depth()).toBe(2);
    await end('a');
    expect(launched).toEqual(['a', 'd']);
  });

  it('accepts runs up to the limit, including those being written', async () => {
    const { queue } = queueWith({ running: 1, waiting: 1 });
    queue.open();
    let write = () => {};
    const slow = () =>
      new Promise<{ runId: string; isNew: boolean }>((resolve) => {
        write = () => resolve({ runId: 'a', isNew: true });
      });
    const first = queue.admit('a', slow);
    await queue.admit('b', accepted('b')).then(({ runId }) => queue.add(runId));
    expect(queue.isFull()).toBe(true);
    await expect(queue.admit('c', accepted('c'))).rejects.toMatchObject({ code: 'busy' });
    write();
    expect(await first).toEqual({ runId: 'a', isNew: true });
    queue.add('a');
    await expect(queue.admit('c', accepted('c'))).rejects.toMatchObject({ code: 'busy', help: /maxQueuedRuns/ });
    queue.leave('b');
    expect(await queue.admit('c', accepted('c'))).toEqual({ runId: 'c', isNew: true });
  });

  it('does not start a run that is being written until all its requests are answered', async () => {
    const { queue, launched } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    let write = () => {};
    const slow = queue.admit('a', () => new Promise((resolve) => (write = () => resolve({ runId: 'a', isNew: true }))));
    await queue.admit('a', accepted('a'));
    queue.add('a');
    expect([launched, queue.depth()]).toEqual([[], 0]);
    write();
    await slow;
    queue.add('a');
    expect(launched).toEqual(['a']);
  });

  it('releases the place of a refused request', async () => {
    const { queue } = queueWith({ running: 1, waiting: 0 });
    const refuse = () => Promise.reject(new WfError('storage', 'no space'));
    await expect(queue.admit('a', refuse)).rejects.toMatchObject({ code: 'storage' });
    expect(queue.isFull()).toBe(false);
  });

  it('fails a run whose process cannot start, without a retry', async () => {
    const { queue, launched, refused, reported, fail } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    queue.add('a');
    queue.add('b');
    await fail('a', new WfError('storage', 'it died'));
    expect([launched, refused, reported.length]).toEqual([['a', 'b'], ['a: it died'], 1]);
    queue.add('a');
    expect(queue.depth()).toBe(0);
  });

  it('restarts a process that died without a report, at most three times', async () => {
    const { queue, clock, launched, refused, fail } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    queue.add('a');
    for (const pauseMs of [100, 500, 2500]) {
      await fail('a', new CarrierDied('storage', 'killed'));
      queue.add('a');
      clock.advance(pauseMs);
      await settled();
    }
    expect([launched, refused, queue.running()]).toEqual([['a', 'a', 'a', 'a'], [], ['a']]);
    await fail('a', new CarrierDied('storage', 'killed'));
    expect([launched.length, refused, queue.running()]).toEqual([4, ['a: killed'], []]);
  });

  it('starts a run again after a lack of descriptors', async () => {
    const { queue, clock, launched, refused, fail } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    queue.add('a');
    const cause = Object.assign(new Error('EMFILE'), { code: 'EMFILE', syscall: 'open' });
    await fail('a', new WfError('storage', 'cannot open the log', { cause }));
    clock.advance(100);
    await settled();
    expect([launched, refused, queue.running()]).toEqual([['a', 'a'], [], ['a']]);
  });

  it('does not start a run again after its stop or after the close', async () => {
    const { queue, clock, launched, refused, over, fail } = queueWith({ running: 3, waiting: 9 });
    queue.open();
    for (const runId of ['stopped here', 'stopped elsewhere', 'left']) {
      queue.add(runId);
      await fail(runId, new CarrierDied('storage', 'killed'));
    }
    queue.leave('stopped here');
    over.add('stopped elsewhere');
    queue.close();
    clock.advance(100);
    await settled();
    expect([launched.length, refused, queue.running()]).toEqual([3, [], []]);
  });

  it('starts no second process for a run whose process died as its owner, until the run waits again', async () => {
    const { queue, clock, launched, owned, fail } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    queue.add('a');
    owned.add('a');
    await fail('a', new CarrierDied('storage', 'killed'));
    clock.advance(100);
    await settled();
    expect([launched, queue.running()]).toEqual([['a'], []]);
    owned.delete('a');
    queue.add('a');
    expect(launched).toEqual(['a', 'a']);
  });

  it('leaves a run of another process alone, and retries later', async () => {
    const { queue, clock, launched, refused, reported, fail } = queueWith({ running: 1, waiting: 9 });
    queue.open();
    queue.add('a');
    await fail('a', new WfError('run-active', 'process 7 has it'));
    queue.add('a');
    expect([launched, refused, reported]).toEqual([['a'], [], []]);
    clock.advance(5000);
    queue.add('a');
    expect(launched).toEqual(['a', 'a']);
  });

  it('continues with the next run if a process cannot be started', async () => {
    const { queue, refused, end } = queueWith({ running: 1, waiting: 9 });
    const broken = new StartQueue({
      limits: { running: 1, waiting: 9 },
      clock: createFakeClock(),
      mayGoOn: () => true,
      lineOf: freeLine,
      takeTurn: (work) => work(),
      isWaiting: () => true,
      findGuests: async () => {},
      launch: () => {
        throw new WfError('storage', 'too many open files');
      },
      refuse: async (runId, message) => refused.push(`${runId}: ${message}`),
      report: () => {},
    });
    broken.add('a');
    broken.add('b');
    broken.open();
    await settled();
    await settled();
    expect(refused).toEqual(['a: too many open files', 'b: too many open files']);
    await end('a');
    expect(queue.running()).toEqual([]);
  });

  it('is idle when no run is running, and waiting for that can be canceled', async () => {
    const { queue, end } = queueWith({ running: 2, waiting: 9 });
    queue.open();
    queue.add('a');
    queue.add('b');
    const impatience = new AbortController();
    let told = '';
    void queue.idle(impatience.signal).then(() => {
      told += 'given up';
    });
    impatience.abort();
    await settled();
    const idle = queue.idle(new AbortController().signal).then(() => {
      told += ', idle';
    });
    await end('a');
    expect(told).toBe('given up');
    await end('b');
    await idle;
    expect(told).toBe('given up, idle');
  });
});

describe('a run that waits only for approvals', () => {
  it('leaves its place to another, and continues beyond the limit', async () => {
    const { queue, launched, end } = queueWith({ running: 1, waiting: 1 });
    queue.open();
    for (const runId of ['a', 'b', 'c']) queue.add(runId);
    queue.hold('a', true);
    expect([launched, queue.slots(), queue.running()]).toEqual([['a', 'b'], ['b'], ['a', 'b']]);
    queue.hold('a', false);
    expect(queue.slots()).toEqual(['a', 'b']);
    await end('b');
    expect(launched).toEqual(['a', 'b']);
    await end('a');
    expect([launched, queue.slots()]).toEqual([['a', 'b', 'c'], ['c']]);
  });

  it('makes room for requests, and none after it has finished', async () => {
    const { queue, launched, end } = queueWith({ running: 1, waiting: 0 });
    queue.open();
    queue.add('a');
    expect(queue.isFull()).toBe(true);
    queue.hold('a', true);
    expect(queue.isFull()).toBe(false);
    await end('a');
    queue.add('b');
    queue.hold('a', true);
    expect([launched, queue.isFull()]).toEqual([['a', 'b'], true]);
  });

  it('does not count in its queue, but for the limit of its workflow', async () => {
    const line = { queue: 'db', workflow: 'w', maxConcurrent: 1 };
    const { queue, launched } = queueWith({ running: 5, waiting: 9 }, { a: line, b: { queue: 'db' }, c: line });
    queue.open();
    for (const runId of ['a', 'b', 'c']) queue.add(runId);
    await settled();
    queue.hold('a', true);
    await settled();
    expect(launched).toEqual(['a', 'b']);
    expect(queue.waiting()).toEqual(['c']);
  });

  it('does not count in its queue if another program has started it', async () => {
    const { queue, launched } = queueWith({ running: 5, waiting: 9 }, { shell: { queue: 'db' }, a: { queue: 'db' } });
    queue.open();
    queue.countGuest('shell');
    queue.add('a');
    await settled();
    expect(launched).toEqual([]);
    queue.hold('shell', true);
    await settled();
    expect(launched).toEqual(['a']);
  });
});

describe('runs that share a queue', () => {
  const db = { queue: 'db' };

  it('run one at a time, in their order, while others pass them', async () => {
    const { queue, launched, end } = queueWith({ running: 5, waiting: 9 }, { a: db, b: db, d: db });
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd']) queue.add(runId);
    await settled();
    expect(launched).toEqual(['c', 'a']);
    expect(queue.stateOf('db')).toEqual({ limit: 1, waiting: 2 });
    await end('a');
    expect(launched).toEqual(['c', 'a', 'b']);
    await end('c');
    expect(launched).toEqual(['c', 'a', 'b']);
    await end('b');
    expect(launched).toEqual(['c', 'a', 'b', 'd']);
    expect(queue.stateOf('db')).toEqual({ limit: 1, waiting: 0 });
  });

  it('run as many at a time as the settings allow, within the limit of all runs', async () => {
    const limits = { running: 3, waiting: 9, queues: new Map([['db', 2]]) };
    const { queue, launched } = queueWith(limits, { a: db, b: db, c: db });
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd', 'e']) queue.add(runId);
    await settled();
    expect(launched).toEqual(['a', 'b', 'd']);
    expect(queue.waiting()).toEqual(['c', 'e']);
  });

  it('look for runs that other programs have just started before one of them starts', async () => {
    const { queue, look, launched } = queueWith({ running: 5, waiting: 9 }, { shell: db, a: db, b: db });
    let found = () => {};
    look.find = () => new Promise((resolve) => (found = resolve));
    queue.open();
    for (const runId of ['a', 'free', 'b']) queue.add(runId);
    expect(launched).toEqual(['free']);
    queue.countGuest('shell');
    found();
    await settled();
    expect(launched).toEqual(['free']);
    queue.leave('shell');
    expect(launched).toEqual(['free']);
    found();
    await settled();
    expect(launched).toEqual(['free', 'a']);
  });

  it('wait for a run that another program has started, which takes no place', async () => {
    const { queue, launched } = queueWith({ running: 1, waiting: 9 }, { shell: db, a: db });
    queue.open();
    queue.countGuest('shell');
    queue.countGuest('other');
    queue.add('a');
    queue.add('b');
    await settled();
    expect(launched).toEqual(['b']);
    queue.leave('b');
    await settled();
    expect(launched).toEqual(['b']);
    queue.leave('shell');
    await settled();
    expect(launched).toEqual(['b', 'a']);
  });

  it('count those of an earlier daemon', async () => {
    const { queue, launched } = queueWith({ running: 5, waiting: 9 }, { a: db, b: db });
    queue.occupy('a');
    queue.open();
    queue.add('b');
    await settled();
    expect(launched).toEqual([]);
    queue.leave('a');
    await settled();
    expect(launched).toEqual(['b']);
  });
});

describe('runs of a workflow with a limit', () => {
  it('wait for each other, and not for other workflows', async () => {
    const etl = { workflow: 'etl', maxConcurrent: 2 };
    const { queue, launched, end } = queueWith({ running: 9, waiting: 9 }, { a: etl, b: etl, c: etl });
    queue.open();
    for (const runId of ['a', 'b', 'c', 'd']) queue.add(runId);
    await settled();
    expect(launched).toEqual(['a', 'b', 'd']);
    await end('b');
    expect(launched).toEqual(['a', 'b', 'd', 'c']);
  });
});

it('a run that another process claims is started again soon, even if the clock was set back', async () => {
  const { queue, clock, launched, fail } = queueWith({ running: 1, waiting: 1 });
  queue.open();
  queue.add('a');
  await settled();
  await fail('a', new WfError('run-active', 'the run is still running'));
  clock.set(-3_600_000);
  queue.add('a');
  await settled();
  expect(launched).toEqual(['a', 'a']);
});
