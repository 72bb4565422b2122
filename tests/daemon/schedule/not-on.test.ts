import { expect, it } from 'vitest';
import { type CronRule, loadCronTimes } from '#daemon/schedule/cron-times.ts';

const times = await loadCronTimes();

function nextOf(rule: Partial<CronRule>, after: string): string | null {
  const next = times.next({ expression: '0 9 * * *', timeZone: 'UTC', ...rule }, Date.parse(after));
  return next === null ? null : new Date(next).toISOString();
}

function lastOf(rule: Partial<CronRule>, until: string, count: number): readonly string[] {
  const found = times.last({ expression: '0 9 * * *', timeZone: 'UTC', ...rule }, Date.parse(until), count);
  return found.map((moment) => new Date(moment).toISOString());
}

it('nothing is due on the days of a rule, of one year or of every year', () => {
  const notOn = ['2026-12-24', '12-25', '12-26'];
  expect(nextOf({ notOn }, '2026-12-23T10:00:00Z')).toBe('2026-12-27T09:00:00.000Z');
  expect(nextOf({ notOn }, '2027-12-23T10:00:00Z')).toBe('2027-12-24T09:00:00.000Z');
  expect(lastOf({ notOn }, '2026-12-27T10:00:00Z', 2)).toEqual([
    '2026-12-23T09:00:00.000Z',
    '2026-12-27T09:00:00.000Z',
  ]);
});

it('the first and last minutes of a day belong to it in the zone of the rule, also with 23 or 25 hours', () => {
  const berlin = { expression: '* * * * *', timeZone: 'Europe/Berlin' };
  const spring = { ...berlin, notOn: ['2026-03-29'] };
  expect(nextOf(spring, '2026-03-28T22:59:00Z')).toBe('2026-03-29T22:00:00.000Z');
  expect(lastOf(spring, '2026-03-29T22:00:30Z', 2)).toEqual(['2026-03-28T22:59:00.000Z', '2026-03-29T22:00:00.000Z']);
  const autumn = { ...berlin, notOn: ['2026-10-25'] };
  expect(nextOf(autumn, '2026-10-24T21:59:00Z')).toBe('2026-10-25T23:00:00.000Z');
  expect(lastOf(autumn, '2026-10-25T23:00:30Z', 2)).toEqual(['2026-10-24T21:59:00.000Z', '2026-10-25T23:00:00.000Z']);
});

it('a rule without remaining days is never due', () => {
  expect(nextOf({ expression: '0 9 25 12 *', notOn: ['12-25'] }, '2026-01-01T00:00:00Z')).toBeNull();
  expect(lastOf({ expression: '0 9 25 12 *', notOn: ['12-25'] }, '2026-01-01T00:00:00Z', 1)).toEqual([]);
  const everyDay = Array.from({ length: 366 }, (_, day) =>
    new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(5, 10),
  );
  expect(nextOf({ expression: '* * * * *', notOn: everyDay }, '2026-01-01T00:00:00Z')).toBeNull();
});

it('a moment is due once, and not on an excluded day', () => {
  const rule = { expression: '2026-12-24T17:00:00.000Z' };
  expect(nextOf(rule, '2026-12-24T16:59:59Z')).toBe('2026-12-24T17:00:00.000Z');
  expect(nextOf(rule, '2026-12-24T17:00:00Z')).toBeNull();
  expect(lastOf(rule, '2026-12-24T16:59:59Z', 9)).toEqual([]);
  expect(lastOf(rule, '2026-12-25T00:00:00Z', 9)).toEqual(['2026-12-24T17:00:00.000Z']);
  expect(nextOf({ ...rule, notOn: ['12-24'] }, '2026-01-01T00:00:00Z')).toBeNull();
});
