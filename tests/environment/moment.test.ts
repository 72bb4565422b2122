import { expect, it } from 'vitest';
import { noSchedule } from '#core/workflow.ts';
import { latestTimes, momentVariables } from '#environment/moment.ts';

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

it.each([
  ['2026-11-26T02:00:00+01:00', '06:30', '2026-11-26T06:30:00+01:00'],
  ['2026-11-26T23:00:00+01:00', '06:30', '2026-11-27T06:30:00+01:00'],
  ['2026-11-26T06:30:00+01:00', '06:30', '2026-11-27T06:30:00+01:00'],
  // The night in which an hour occurs twice, and that in which one is missing.
  ['2026-10-25T01:00:00+02:00', '02:30', '2026-10-25T02:30:00+02:00'],
  ['2026-10-25T01:00:00+02:00', '06:30', '2026-10-25T06:30:00+01:00'],
  ['2026-03-29T01:00:00+01:00', '02:30', '2026-03-29T03:30:00+02:00'],
])('a run of %s that is to end by %s is late at %s', (moment, by, late) => {
  const scheduledFor = Date.parse(moment);
  const found = latestTimes({ ...berlin, late: { afterMs: 60_000, by } }, { scheduledFor });
  expect(found).toEqual({ startBy: scheduledFor + 60_000, lateBy: Date.parse(late) });
});

it('without such keys a run is not late because of its moment', () => {
  expect(latestTimes({ ...berlin, late: { afterMs: 60_000 } }, { scheduledFor: 0 })).toEqual({ startBy: 60_000 });
  expect(latestTimes(berlin, { scheduledFor: 0 })).toEqual({});
});
