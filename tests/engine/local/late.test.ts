import { expect, it } from 'vitest';
import type { Outcome } from '#core/run/run.ts';
import type { Notice, Notify } from '#engine/engine.ts';
import { type EngineWorld, type Work, type WorldOptions, withEngine } from '../../support/engine-world.ts';
import { step, workflow } from '../../support/workflow.ts';

/** A world whose step `slow` ends when the test says so, and the statuses of the notices about the run. */
async function withSlowStep(
  use: (
    world: EngineWorld & { readonly end: () => void; readonly notices: readonly Notice['status'][] },
  ) => Promise<void>,
): Promise<void> {
  const notices: Notice['status'][] = [];
  let end = () => {};
  const slow = new Promise<Outcome>((resolve) => {
    end = () => resolve({ status: 'succeeded', exitCode: 0, outputs: {} });
  });
  const notify: Notify = ({ step: about, status }) => {
    if (about === null) notices.push(status);
    return null;
  };
  const work: Work = (attempt) => {
    attempt.started(null);
    return slow;
  };
  const options: WorldOptions = { notify, work: { slow: work } };
  await withEngine(options, (world) => use({ ...world, end, notices }));
}

const lateOf = ({ story }: EngineWorld) => story().filter((line) => line.includes('.late'));

it('a run and its step are late once each, and no timer is left', () =>
  withSlowStep(async (world) => {
    const { clock, start, told, end, notices } = world;
    const made = workflow({ late: { afterMs: 60_000 }, steps: [step('slow', { lateMs: 30_000 }), step('quick')] });
    const { finished } = start(made);
    await told('step.started', 'slow');
    clock.advance(29_999);
    expect(lateOf(world)).toEqual([]);
    clock.advance(1);
    await told('step.late', 'slow');
    clock.advance(600_000);
    await told('run.late');
    end();
    expect((await finished).status).toBe('succeeded');
    expect(lateOf(world)).toEqual(['step.late slow', 'run.late']);
    expect(notices).toEqual(['late', 'late', 'succeeded']);
    expect(clock.pending()).toBe(0);
  }));

it('a run that ends in time is not late, and cancels its timers', () =>
  withSlowStep(async (world) => {
    const { clock, start, told, end, notices } = world;
    const { finished } = start(workflow({ late: { afterMs: 60_000 }, steps: [step('slow', { lateMs: 60_000 })] }));
    await told('step.started', 'slow');
    end();
    await finished;
    expect(clock.pending()).toBe(0);
    clock.advance(60_000);
    expect([lateOf(world), notices]).toEqual([[], ['succeeded']]);
  }));

it('with "warn: only" no notification is sent', () =>
  withSlowStep(async (world) => {
    const { clock, start, told, end, notices } = world;
    const { finished } = start(workflow({ late: { afterMs: 1000, isQuiet: true }, steps: [step('slow')] }));
    await told('step.started', 'slow');
    clock.advance(1000);
    await told('run.late');
    end();
    await finished;
    expect(notices).toEqual(['succeeded']);
  }));

it('a scheduled run that starts too long after its moment is late before it starts, and notifies when it can', () =>
  withSlowStep(async (world) => {
    const { clock, start, told, end, notices } = world;
    const made = workflow({ late: { afterMs: 60_000 }, steps: [step('slow')] });
    const { finished } = start(made, { latest: { startBy: clock.now() } });
    await told('step.started', 'slow');
    expect(world.story().slice(0, 5)).toEqual(['run.created', 'run.owned', 'run.late', 'run.prepared', 'run.started']);
    clock.advance(600_000);
    end();
    await finished;
    expect(notices).toEqual(['late', 'succeeded']);
  }));

it('a scheduled run is late at its time of day', () =>
  withSlowStep(async (world) => {
    const { clock, start, told, end } = world;
    const lateBy = clock.now() + 60_000;
    const { finished } = start(workflow({ late: { by: '01:30' }, steps: [step('slow')] }), { latest: { lateBy } });
    await told('step.started', 'slow');
    expect(world.events[0]).toMatchObject({ type: 'run.created', lateBy });
    clock.advance(60_000);
    await told('run.late');
    end();
    await finished;
  }));
