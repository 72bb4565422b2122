import { describe, expect, it } from 'vitest';
import { SharedSlots } from '#engine/temporal/worker/slots.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import fc from '../../support/fast-check.ts';

const EMPTY_AFTER_MS = 500;

/** Shared slots, as the library uses them: each queue asks for one more slot as soon as it has one. */
function world(total: number, queues: readonly string[]) {
  const clock = createFakeClock();
  const slots = new SharedSlots(total, clock);
  const { supplier } = slots;
  const end = new AbortController();
  const granted = new Map<string, object[]>(queues.map((queue) => [queue, []]));
  const context = (taskQueue: string) =>
    ({ taskQueue, slotType: 'activity', workerIdentity: '', workerBuildId: '', isSticky: false }) as const;
  const ask = (queue: string) => {
    void supplier.reserveSlot(context(queue), end.signal).then(
      (permit) => {
        granted.get(queue)?.push(permit);
        ask(queue);
      },
      () => {},
    );
  };
  const running: { readonly permit: object; readonly finish: () => void }[] = [];
  let refused = 0;
  return {
    slots,
    clock,
    running,
    refused: () => refused,
    open: () => queues.filter((queue) => (granted.get(queue) ?? []).length > 0),
    mostOpen: () => Math.max(...queues.map((queue) => (granted.get(queue) ?? []).length)),
    start: async () => {
      for (const queue of queues) ask(queue);
      await settled();
    },
    stop: async () => {
      end.abort(new Error('stopped'));
      await settled();
    },
    /** A queue answers a question with work. */
    give: async (queue: string) => {
      const permit = granted.get(queue)?.shift();
      if (permit === undefined) return false;
      supplier.markSlotUsed({ permit, slotInfo: { type: 'activity', activityType: 'a' } });
      let finish = () => {};
      const work = new Promise<void>((resolve) => {
        finish = resolve;
      });
      let isRefused = false;
      const done = slots
        .within(
          () => work,
          () => new Error('no slot'),
        )
        .catch(() => {
          isRefused = true;
          refused += 1;
          supplier.releaseSlot({ permit });
        });
      await settled();
      if (isRefused) await done;
      else running.push({ permit, finish });
      return true;
    },
    finish: async () => {
      const [first] = running.splice(0, 1);
      first?.finish();
      await settled();
      if (first !== undefined) supplier.releaseSlot({ permit: first.permit });
      await settled();
    },
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe('the slots of a worker', () => {
  it('let every queue ask, although there are more queues than slots', async () => {
    const one = world(1, ['a', 'b', 'c']);
    await one.start();
    expect(one.open()).toEqual(['a']);
    one.clock.advance(EMPTY_AFTER_MS);
    await settled();
    expect(one.open()).toEqual(['a', 'b']);
    one.clock.advance(EMPTY_AFTER_MS);
    await settled();
    expect([one.open(), one.mostOpen()]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('are given back by work of an empty queue that comes when none is free', async () => {
    const one = world(1, ['a', 'b']);
    await one.start();
    one.clock.advance(EMPTY_AFTER_MS);
    await settled();
    await one.give('a');
    await one.give('b');
    expect([one.running.length, one.refused(), one.open()]).toEqual([1, 1, []]);
    await one.finish();
    expect(one.open()).toEqual(['a']);
  });

  it('end questions that are no longer needed', async () => {
    const one = world(1, ['a', 'b']);
    await one.start();
    await one.stop();
    one.clock.advance(10 * EMPTY_AFTER_MS);
    await settled();
    expect(one.open()).toEqual(['a']);
  });

  it('are never exceeded, and never lost, in random histories', async () => {
    const queues = ['a', 'b', 'c', 'd'];
    const action = fc.oneof(fc.constantFrom(...queues), fc.constantFrom('finish', 'wait'));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(action, { maxLength: 40 }), async (total, actions) => {
        const one = world(total, queues);
        await one.start();
        for (const what of actions) {
          if (what === 'finish') await one.finish();
          else if (what === 'wait') one.clock.advance(EMPTY_AFTER_MS);
          else await one.give(what);
          await settled();
          expect(one.running.length).toBeLessThanOrEqual(total);
          expect(one.mostOpen()).toBeLessThanOrEqual(1);
        }
        while (one.running.length > 0) await one.finish();
        for (const _ of queues) {
          one.clock.advance(EMPTY_AFTER_MS);
          await settled();
        }
        expect(one.open()).toEqual(queues);
      }),
    );
  });
});
