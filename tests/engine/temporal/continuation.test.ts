import { describe, expect, it } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import type { RunEvent } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import type { CarriedRun } from '#engine/temporal/protocol.ts';
import { Continuation, carriedRun, weightOf } from '#engine/temporal/workflow/continuation.ts';
import { step, workflow } from '../../support/workflow.ts';

describe('a run continues in a new execution', () => {
  const limits = { idle: 3, pauses: [5, 8], pauseMs: 60_000 };
  /** The pauses after each of a number of attempts. */
  const counted = (count: number) => {
    const continuation = new Continuation(limits);
    const pauses = Array.from({ length: count }, () => continuation.count());
    return { continuation, pauses };
  };

  it('from a number of attempts on, or when the server suggests it after the first', () => {
    const due = [0, 1, 2, 3, 4].map((count) => counted(count).continuation);
    expect(due.map((continuation) => continuation.isDue(false))).toEqual([false, false, false, true, true]);
    expect(due.map((continuation) => continuation.isDue(true))).toEqual([false, true, true, true, true]);
  });

  it('and lets no attempt begin for a while at each limit, at the last one without an end', () => {
    const { pauses, continuation } = counted(10);
    expect(pauses).toEqual([null, null, null, null, 60_000, null, null, Number.POSITIVE_INFINITY, null, null]);
    expect(continuation.attempts).toBe(10);
  });

  it('and pauses later, or never if it is full, while something in flight waits for other attempts', () => {
    const continuation = new Continuation(limits);
    const held = Array.from({ length: 6 }, () => continuation.count(true));
    expect([held.filter((pause) => pause !== null), continuation.isFull]).toEqual([[], false]);
    expect(continuation.count()).toBe(60_000);
    continuation.count(true);
    expect(continuation.isFull).toBe(true);
  });
});

describe('it carries', () => {
  const made = workflow({ steps: [step('a')] });
  const { graph: _, ...state } = initialRun(buildGraph(made), made);
  const event = (message: string): RunEvent => ({ type: 'run.warned', at: 1, step: 'a', message });
  const carried = (events: readonly RunEvent[], after = 0): CarriedRun => {
    const rest = { secrets: [], outputs: {}, workers: [], evaluated: null, limitMs: 0 };
    return { execution: 1, state, events, after, ...rest };
  };

  it('all events', () => {
    const all = carried(Array.from({ length: 30_000 }, () => event('')));
    expect(carriedRun(all, 10_000)).toBe(all);
  });

  it('those of the last execution, if all are too many', () => {
    const events = [event('x'.repeat(900_000)), event('y'.repeat(200_000)), event('z')];
    expect(carriedRun(carried(events, 7), 1)).toEqual(carried(events.slice(1), 8));
  });

  it('nothing, if even those are too many: then it stays', () => {
    expect(carriedRun(carried([event('x'), event('y'.repeat(2_000_000))]), 1)).toBeNull();
  });

  it('texts by their length, and words of the journal by little', () => {
    expect(weightOf(event('four'))).toBe(4 + 4 + 4 + 4);
    expect(weightOf([null, 0, true, 'abc', 12])).toBe(5 * 2 + 3 + 4);
  });
});
