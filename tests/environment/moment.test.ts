import { expect, it } from 'vitest';
import { noSchedule } from '#core/workflow.ts';
import { momentVariables } from '#environment/moment.ts';

const berlin = { schedule: { ...noSchedule, timeZone: 'Europe/Berlin' } };
const created = Date.parse('2026-11-27T09:00:00Z');

it('the variables of a moment are in the time zone of the workflow', () => {
  const moment = {
    scheduledFor: Date.parse('2026-11-25T23:30:00Z'),
    previousFor: Date.parse('2026-10-24T22:30:00Z'),
  };
  expect(momentVariables(berlin, moment, created)).toEqual({
    WF_SCHEDULED_FOR: '2026-11-26T00:30:00+01:00',
    WF_SCHEDULED_DATE: '2026-11-26',
    WF_PREVIOUS_FOR: '2026-10-25T00:30:00+02:00',
  });
});

it('a run without a moment has its creation', () => {
  expect(momentVariables(berlin, undefined, created)).toEqual({
    WF_SCHEDULED_FOR: '2026-11-27T10:00:00+01:00',
    WF_SCHEDULED_DATE: '2026-11-27',
    WF_PREVIOUS_FOR: '',
  });
});
