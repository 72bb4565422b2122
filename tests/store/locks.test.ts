import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { LockHolder, ProcessIdentity, ProcessOwner } from '#core/run/run.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { identify, isAlive } from '#processes/processes.ts';
import { writeFirstOwner } from '#store/files/control/owner.ts';
import { drawTicket, lockDirectory } from '#store/files/locks/lock-files.ts';
import { createLocks, type LockProcesses } from '#store/files/locks/locks.ts';
import type { LockRequest, LockStore } from '#store/store.ts';
import { withDirectory } from '../support/wf.ts';

const none: LockProcesses = { identify, isAlive, settle: async () => {} };

function request(runId: string, more: Partial<LockRequest> = {}): LockRequest {
  const by = { runId, workflow: 'w', step: 's' };
  return { kind: 'lock', name: 'db', size: 1, mode: 'write', slots: 1, by, ...more };
}

/** Locks in a directory of their own, by stores that count as different processes. */
function withLocks(use: (open: (processes?: LockProcesses) => LockStore, root: string) => Promise<void>) {
  return withDirectory((home) =>
    use((processes = none) => createLocks(join(home, 'runs'), processes), join(home, 'locks')),
  );
}

/** Asks for a lock; `order` gets the run when it has it, `blocked` what it waits for. */
function asking(store: LockStore, asked: LockRequest, order: string[] = []) {
  const stop = new EndSignal();
  const blocked: (string | null)[] = [];
  let wake = () => {};
  const reported = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const note = (holder: LockHolder | null) => {
    blocked.push(holder?.runId ?? null);
    wake();
  };
  const lock = store.acquire(asked, { stop, blocked: note }).then((held) => {
    order.push(held === null ? `${asked.by.runId} stopped` : asked.by.runId);
    return held;
  });
  return { stop, blocked, reported, lock };
}

/** A wait that reports nothing. */
const quiet = () => ({ stop: new EndSignal(), blocked: () => {} });

const entriesOf = (root: string) => readdirSync(root).filter((name) => name !== '.processes');

test('a free lock is had at once, and leaves no file after its release', () =>
  withLocks(async (open, root) => {
    const { lock, blocked } = asking(open(), request('a'));
    const held = await lock;
    expect([blocked, entriesOf(root)]).toEqual([[], ['db']]);
    held?.release();
    expect(entriesOf(root)).toEqual([]);
  }));

test('processes get a lock in the order in which they asked, one after another', () =>
  withLocks(async (open) => {
    const order: string[] = [];
    const stores = [open(), open(), open()];
    const asked = Array.from({ length: 12 }, (_, n) => asking(stores[n % 3] as LockStore, request(`r${n}`), order));
    for (const [n, { lock }] of asked.entries()) {
      const held = await lock;
      expect(order).toEqual(asked.slice(0, n + 1).map((_, index) => `r${index}`));
      held?.release();
    }
  }));

test('a lock with several slots is had by as many, and a large request is not overtaken', () =>
  withLocks(async (open) => {
    const order: string[] = [];
    const size = 3;
    const [one, two] = [open(), open()];
    const first = asking(one, request('first', { size, slots: 2 }), order);
    await first.lock;
    const large = asking(two, request('large', { size, slots: 3 }), order);
    const small = asking(one, request('small', { size }), order);
    await Promise.all([large.reported, small.reported]);
    expect([order, large.blocked, small.blocked]).toEqual([['first'], ['first'], ['first']]);
    (await first.lock)?.release();
    (await large.lock)?.release();
    (await small.lock)?.release();
    expect(order).toEqual(['first', 'large', 'small']);
  }));

test('readers share a lock, and a writer waits for all of them', () =>
  withLocks(async (open) => {
    const order: string[] = [];
    const [one, two] = [open(), open()];
    const read = (runId: string) => request(runId, { mode: 'read' });
    const readers = [asking(one, read('r1'), order), asking(two, read('r2'), order)];
    const locks = await Promise.all(readers.map(({ lock }) => lock));
    const writer = asking(two, request('w'), order);
    const late = asking(one, read('r3'), order);
    await Promise.all([writer.reported, late.reported]);
    locks[0]?.release();
    locks[1]?.release();
    const written = await writer.lock;
    expect(order).toEqual(['r1', 'r2', 'w']);
    written?.release();
    (await late.lock)?.release();
    expect(order).toEqual(['r1', 'r2', 'w', 'r3']);
  }));

test('a wait that is stopped leaves nothing, and lets the next one pass', () =>
  withLocks(async (open, root) => {
    const order: string[] = [];
    const [one, two] = [open(), open()];
    const first = await asking(one, request('first'), order).lock;
    const second = asking(two, request('second'), order);
    const third = asking(one, request('third'), order);
    await second.reported;
    second.stop.abort('stop');
    await second.lock;
    expect(readdirSync(join(root, 'db'))).toHaveLength(2);
    first?.release();
    (await third.lock)?.release();
    expect([order, entriesOf(root)]).toEqual([['first', 'second stopped', 'third'], []]);
  }));

test('a lock that is taken without waiting counts for those who wait', () =>
  withLocks(async (open) => {
    const order: string[] = [];
    const [one, two] = [open(), open()];
    const first = await asking(one, request('first'), order).lock;
    const second = asking(two, request('second'), order);
    await second.reported;
    const taken = one.take(request('taken'));
    first?.release();
    const third = asking(two, request('third'), order);
    await third.reported;
    expect([order, third.blocked]).toEqual([['first'], ['taken']]);
    taken.release();
    (await second.lock)?.release();
    (await third.lock)?.release();
  }));

/** Leaves a ticket of another process, which has a record or none. */
function leave(root: string, owner: ProcessOwner | null, runId = 'dead'): void {
  const directory = join(root, '.processes/other');
  if (owner !== null) {
    mkdirSync(directory, { recursive: true });
    writeFirstOwner(directory, owner);
  }
  drawTicket(lockDirectory(root, request(runId)), 'other-1', request(runId), false);
}

const dead: ProcessOwner = { pid: 4_000_000, startTime: 1, boot: 'boot', host: 'c1' };

test.each([
  ['that has died', dead],
  ['that has left no record', null],
])('the lock of a process %s is free once its run is settled', (_, owner) =>
  withLocks(async (open, root) => {
    leave(root, owner);
    const settled: string[] = [];
    const settle = async (runId: string) => void settled.push(runId);
    const alive = ({ pid }: ProcessIdentity) => pid !== dead.pid;
    const asked = asking(open({ ...none, isAlive: alive, settle }), request('next'));
    (await asked.lock)?.release();
    expect([settled, asked.blocked, entriesOf(root)]).toEqual([['dead'], [], []]);
  }),
);

test('a process that died while it drew a number does not block others', () =>
  withLocks(async (open, root) => {
    mkdirSync(join(root, 'db'), { recursive: true });
    writeFileSync(join(root, 'db/c.other-1'), '');
    (await asking(open(), request('next')).lock)?.release();
    expect(entriesOf(root)).toEqual([]);
  }));

test('a process that cannot be judged keeps its lock, and is named', () =>
  withLocks(async (open, root) => {
    leave(root, { ...dead, boot: null }, 'far');
    const elsewhere = {
      here: { boot: 'boot', machine: 'machine' },
      isElsewhere: ({ pid }: ProcessIdentity) => pid === dead.pid,
      declareGone: () => {},
    };
    const stop = new EndSignal();
    const holder = await new Promise((blocked) => {
      const store = open({ ...none, isAlive: () => true, elsewhere });
      void store.acquire(request('next'), { stop, blocked });
    });
    const unknown = 'process 4000000 on "c1"';
    expect(holder).toEqual({ runId: 'far', workflow: 'w', step: 's', since: expect.any(Number), unknown });
    stop.abort('stop');
  }));

test('the list of locks has holders, those that wait in their order, and locks within others', () =>
  withLocks(async (open, root) => {
    const store = open();
    const held = await store.acquire(request('a', { size: 3, slots: 2 }), quiet());
    const next = asking(open(), request('b', { size: 3, slots: 3 }));
    await next.reported;
    const last = asking(open(), request('c', { size: 3 }));
    await last.reported;
    const within = { size: 2, within: held?.id ?? '' };
    const inner = await store.acquire(request('d', within), quiet());
    const queue = store.take(request('e', { kind: 'queue', name: 'q' }));
    const sizeOf = (kind: string) => (kind === 'queue' ? 1 : 3);
    const shown = (await store.list(sizeOf)).map(({ holders, waiters, ...lock }) => ({
      ...lock,
      uses: [...holders, ...waiters].map(({ runId, slots }) => `${runId} ${slots}`),
      held: holders.length,
    }));
    const lock = { kind: 'lock', name: 'db' };
    const by = { runId: 'a', workflow: 'w', step: 's' };
    expect(shown.toSorted((one, other) => other.size - one.size)).toEqual([
      { ...lock, size: 3, uses: ['a 2', 'b 3', 'c 1'], held: 1 },
      { ...lock, size: 2, within: by, uses: ['d 1'], held: 1 },
      { kind: 'queue', name: 'q', size: 1, uses: ['e 1'], held: 1 },
    ]);
    for (const each of [held, inner, queue]) each?.release();
    (await next.lock)?.release();
    (await last.lock)?.release();
    expect([await store.list(sizeOf), entriesOf(root)]).toEqual([[], []]);
  }));

test('a lock that is broken goes to the next one, and its release says so', () =>
  withLocks(async (open) => {
    const held = await open().acquire(request('a'), quiet());
    const next = asking(open(), request('b'));
    await next.reported;
    const other = open();
    const broken = () => other.break(new Set([held?.id ?? '']));
    expect([await broken(), await broken()]).toEqual([1, 0]);
    const taken = await next.lock;
    expect([held?.release(), taken?.release()]).toEqual([false, true]);
  }));

test('the list settles and leaves out what dead processes held', () =>
  withLocks(async (open, root) => {
    leave(root, dead, 'gone');
    const settled: string[] = [];
    const settle = async (runId: string) => void settled.push(runId);
    expect([await open({ ...none, settle }).list(() => 1), settled]).toEqual([[], ['gone']]);
  }));

test('the order of requests does not depend on the clock of the day', () =>
  withLocks(async (open) => {
    const held = await open().acquire(request('a'), quiet());
    const order: string[] = [];
    const now = vi.spyOn(Date, 'now');
    const asked = [];
    for (const [index, runId] of ['b', 'c', 'd'].entries()) {
      now.mockReturnValue(1_700_000_000_000 - index * 3_600_000);
      const next = asking(open(), request(runId), order);
      await next.reported;
      asked.push(next.lock.then((lock) => lock?.release()));
    }
    held?.release();
    await Promise.all(asked);
    expect(order).toEqual(['b', 'c', 'd']);
  }));

test('names of queues cannot leave their directory, or be those of locks', () => {
  const of = (kind: 'lock' | 'queue', name: string) => lockDirectory('/l', { kind, name });
  expect([of('lock', 'db'), of('queue', 'db'), of('queue', '../x y')]).toEqual([
    '/l/db',
    '/l/queue=db',
    '/l/queue=..%2Fx%20y',
  ]);
  expect(of('queue', 'é'.repeat(100))).toMatch(/^\/l\/queue=[0-9a-f]{64}$/);
});
