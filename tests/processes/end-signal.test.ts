import { describe, expect, test, vi } from 'vitest';
import { EndSignal, eitherEnd, isAskedToEnd } from '#processes/end-signal.ts';

describe('an end signal', () => {
  test('calls back once when an end is requested, and keeps the first reason', () => {
    const signal = new EndSignal();
    const react = vi.fn();
    signal.onAbort(react);
    expect([signal.aborted, signal.reason]).toEqual([false, null]);
    signal.abort('timeout');
    signal.abort('stop');
    expect([signal.aborted, signal.reason]).toEqual([true, 'timeout']);
    expect(react).toHaveBeenCalledTimes(1);
  });

  test('calls back at once if an end was already requested', () => {
    const signal = new EndSignal();
    signal.abort('stop');
    const react = vi.fn();
    signal.onAbort(react)();
    expect(react).toHaveBeenCalledTimes(1);
  });

  test('does not call back after an unsubscribe, even in the middle of other callbacks', () => {
    const signal = new EndSignal();
    const [early, late] = [vi.fn(), vi.fn()];
    const release = signal.onAbort(early);
    signal.onAbort(() => releaseLate());
    const releaseLate = signal.onAbort(late);
    release();
    signal.abort('stop');
    expect([early.mock.calls, late.mock.calls]).toEqual([[], []]);
  });

  test.each(['before', 'after'])(
    'can be converted to an AbortSignal with its reason: made %s the end was requested',
    (when) => {
      const signal = new EndSignal();
      const early = when === 'before' ? signal.toAbortSignal() : null;
      signal.abort('timeout');
      const made = early ?? signal.toAbortSignal();
      expect([made.aborted, made.reason]).toEqual([true, 'timeout']);
      expect(signal.toAbortSignal()).toBe(made);
    },
  );
});

test.each(['signal', 'kill'] as const)('either signal of an attempt requests its end: %s', (which) => {
  const ends = { signal: new EndSignal(), kill: new EndSignal() };
  const either = eitherEnd(ends);
  expect([isAskedToEnd(ends), either.aborted]).toEqual([false, false]);
  ends[which].abort('stop');
  expect([isAskedToEnd(ends), either.aborted]).toEqual([true, true]);
});
