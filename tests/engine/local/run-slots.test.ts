import { describe, expect, it } from 'vitest';
import type { Step } from '#core/workflow.ts';
import { type AttemptSlot, RunSlots } from '#engine/local/run-slots.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { handler, step } from '../../support/workflow.ts';

/** The slots of a run with attempts at steps, of which as many are active as have entered and not left. */
function slotsOf(maxActiveSteps: number) {
  const clock = createFakeClock();
  const state = { active: 0, policies: { maxActiveSteps } };
  const slots = new RunSlots({ state }, clock);
  const enter = (settings: Partial<Step> = {}, signal = new EndSignal()) => {
    state.active += 1;
    return slots.enter(step('a', settings), signal);
  };
  const leave = (slot: AttemptSlot) => {
    slot.leave();
    state.active -= 1;
    slots.admit();
  };
  /** An attempt whose program the starter starts. */
  const queue = () => {
    const slot = enter();
    slot.program?.queued();
    return slot;
  };
  /** Makes such an attempt, which takes this time in milliseconds. */
  const run = (ms: number) => {
    const slot = queue();
    slot.started();
    clock.advance(ms);
    leave(slot);
  };
  return { slots, enter, leave, queue, run };
}

describe('the steps ahead of the limit of a run', () => {
  it('may start once a short program has ended, behind a program that the starter starts', () => {
    const { slots, queue, run, leave } = slotsOf(2);
    const first = queue();
    expect(slots.ahead).toBe(0);
    run(99);
    expect(slots.ahead).toBe(4);
    run(100);
    expect(slots.ahead).toBe(0);
    run(99);
    leave(first);
    expect(slots.ahead).toBe(0);
  });

  it('may not start while an attempt runs whose program the starter does not start', () => {
    const { slots, enter, leave, queue, run } = slotsOf(2);
    run(1);
    const other = enter({ output: 'A' });
    const second = enter();
    queue();
    expect(slots.ahead).toBe(0);
    leave(other);
    expect(slots.ahead).toBe(0);
    second.program?.queued();
    expect(slots.ahead).toBe(4);
    second.program?.free();
    expect(slots.ahead).toBe(0);
    leave(second);
    expect(slots.ahead).toBe(4);
  });

  it('do not exist without a limit', () => {
    const { slots, enter } = slotsOf(0);
    expect(enter().program).toBeNull();
    expect(slots.ahead).toBe(0);
  });

  it('are no handlers, which run beside the steps', () => {
    const { slots } = slotsOf(1);
    expect(slots.enter(handler('wait'), new EndSignal()).program).toBeNull();
  });
});

describe('a program beyond the limit that the starter does not start', () => {
  it('starts when another attempt has ended, the first one first', async () => {
    const { enter, leave } = slotsOf(1);
    const [running, first, second] = [enter(), enter(), enter()];
    const started: string[] = [];
    const wait = async (name: string, slot: AttemptSlot) => {
      slot.program?.queued();
      await slot.program?.free();
      started.push(name);
    };
    const all = [wait('first', first), wait('second', second)];
    await Promise.resolve();
    expect(started).toEqual([]);
    leave(running);
    await all[0];
    expect(started).toEqual(['first']);
    leave(first);
    await all[1];
    expect(started).toEqual(['first', 'second']);
  });

  it('stops waiting when it is asked to end', async () => {
    const { enter } = slotsOf(1);
    enter();
    const signal = new EndSignal();
    const slot = enter({}, signal);
    const waits = slot.program?.free();
    expect(waits).toBeInstanceOf(Promise);
    signal.abort('stop');
    await waits;
    expect(slot.program?.free()).toBeNull();
  });

  it('need not wait within the limit', () => {
    const { enter } = slotsOf(2);
    enter();
    expect(enter().program?.free()).toBeNull();
  });
});
