import { expect, it } from 'vitest';
import { noSchedule } from '#core/workflow.ts';
import { type Work, withEngine } from '../../support/engine-world.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

const names = ['WF_SCHEDULED_FOR', 'WF_SCHEDULED_DATE', 'WF_PREVIOUS_FOR', 'DAY', 'NEXT'];
const moment = { scheduledFor: Date.parse('2026-11-25T23:30:00Z'), previousFor: Date.parse('2026-11-24T23:30:00Z') };
const berlin = { ...noSchedule, timeZone: 'Europe/Berlin' };

/** A step that records these variables by its name. */
function seesIn(seen: Map<string, readonly (string | undefined)[]>): Work {
  return ({ step: { name }, env }) => {
    seen.set(
      name,
      names.map((variable) => env[variable]),
    );
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
}

it('steps, handlers, parameters and env have the variables of the moment', async () => {
  const seen = new Map<string, readonly (string | undefined)[]>();
  const made = workflow({
    schedule: berlin,
    params: [{ name: 'DAY', value: '$WF_SCHEDULED_DATE' }],
    env: [{ name: 'NEXT', value: 'after $DAY' }],
    steps: [step('load')],
    handlers: { exit: handler('exit') },
  });
  const work = { load: seesIn(seen), 'handlerOn.exit': seesIn(seen) };
  await withEngine({ work }, async ({ start, events }) => {
    await start(made, { moment }).finished;
    expect(events[0]).toMatchObject({ type: 'run.created', ...moment });
    expect(events.find(({ type }) => type === 'run.prepared')).toMatchObject({ params: [{ value: '2026-11-26' }] });
  });
  const all = [
    '2026-11-26T00:30:00+01:00',
    '2026-11-26',
    '2026-11-25T00:30:00+01:00',
    '2026-11-26',
    'after 2026-11-26',
  ];
  expect(Object.fromEntries(seen)).toEqual({ load: all, 'handlerOn.exit': all });
});

it('without a moment, the creation of the run takes its place', async () => {
  const seen = new Map<string, readonly (string | undefined)[]>();
  await withEngine({ work: { load: seesIn(seen) } }, async ({ start, events }) => {
    await start(workflow({ schedule: { ...berlin, timeZone: 'UTC' }, steps: [step('load')] })).finished;
    const [created] = events;
    expect(created).not.toHaveProperty('scheduledFor');
    const text = `${new Date(created?.at ?? 0).toISOString().slice(0, 19)}Z`;
    expect(seen.get('load')).toEqual([text, text.slice(0, 10), '', undefined, undefined]);
  });
});

it('the workflow and the environment cannot set the variables', async () => {
  const seen = new Map<string, readonly (string | undefined)[]>();
  const made = workflow({ schedule: berlin, env: [{ name: 'WF_SCHEDULED_DATE', value: 'x' }], steps: [step('load')] });
  const processEnv = { WF_SCHEDULED_FOR: 'y' };
  await withEngine({ work: { load: seesIn(seen) }, processEnv }, async ({ start }) => {
    await start(made, { moment }).finished;
  });
  expect(seen.get('load')?.slice(0, 2)).toEqual(['2026-11-26T00:30:00+01:00', '2026-11-26']);
});

it('a child run has the moment of its parent', async () => {
  const seen = new Map<string, readonly (string | undefined)[]>();
  const call: Work = async (attempt) => {
    await attempt.runWorkflow({ run: 'child', params: '' });
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
  const child = workflow({ name: 'child', schedule: { ...berlin, timeZone: 'UTC' }, steps: [step('load')] });
  const findSubworkflow = () => ({ workflow: child, sources: [], params: [] });
  await withEngine({ work: { call, load: seesIn(seen) }, findSubworkflow }, async ({ start }) => {
    await start(workflow({ schedule: berlin, steps: [step('call')] }), { moment }).finished;
  });
  expect(seen.get('load')?.slice(0, 3)).toEqual(['2026-11-25T23:30:00Z', '2026-11-25', '2026-11-24T23:30:00Z']);
});
