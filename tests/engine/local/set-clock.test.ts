import { expect, test, vi } from 'vitest';
import { attemptHistory } from '#core/summary/attempt-history.ts';
import { summarize } from '#core/summary/summarize.ts';
import { ClockChanges, systemClock } from '#system/clock.ts';
import { untilStopped, withEngine } from '../../support/engine-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { step, workflow } from '../../support/workflow.ts';

const hour = 3_600_000;

test.each([
  ['back', -hour],
  ['forward', hour],
])('a clock that is set %s changes no duration, and nothing finishes before it started', async (direction, ms) => {
  const steps = [step('before'), step('over', { depends: ['before'] })];
  await withEngine({ work: { over: untilStopped } }, async ({ clock, events, start, told }) => {
    const run = start(workflow({ steps }));
    await told('step.started', 'over');
    clock.advance(4000);
    clock.set(ms);
    clock.advance(2000);
    run.cancel({ reason: 'stop', message: 'stopped', force: false });
    const summary = summarize(await run.finished, () => null);

    const [before, over] = summary.steps;
    expect(before?.durationMs).toBe(0);
    expect(over).toMatchObject({ durationMs: 6000, startedAt: new Date(1_000_000 + ms).toISOString() });
    expect(summary.durationMs).toBe(6000);
    const [attempt] = attemptHistory(events).get('over') ?? [];
    expect(attempt).toMatchObject({ startedAt: 1_000_000 + ms, endedAt: 1_006_000 + ms });
    expect(summary.warnings).toEqual([`the clock of this machine was set ${direction} by 3600s`]);
  });
});

test('small corrections of the clock are no change of it', () => {
  const clock = createFakeClock();
  const changes = new ClockChanges(clock);
  clock.set(-999);
  expect(changes.take()).toBe(0);
  clock.set(-2);
  expect(changes.take()).toBeLessThan(-1000);
  expect(changes.take()).toBe(0);
});

test('a machine that was suspended has not set its clock', () => {
  const seconds = 3_600_000;
  const asleep = vi.spyOn(process, 'uptime');
  const changes = new ClockChanges(systemClock);
  asleep.mockImplementation(() => -seconds);
  expect(changes.take()).toBe(0);
  asleep.mockRestore();
});
