import { Cron } from 'croner';
import { describe, expect, it, vi } from 'vitest';
import { type CronRule, type CronTimes, loadCronTimes } from '#daemon/schedule/cron-times.ts';
import fc from '../../support/fast-check.ts';
import { dueByAsking, wallTable } from './oracle.ts';

const times = await loadCronTimes();

const dayMs = 86_400_000;

/** Around the nights in which the clocks change, and the year's end. */
const nights = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Africa/Cairo', '2026-04-24'],
  ['Africa/Cairo', '2026-10-29'],
  ['Asia/Kolkata', '2026-12-31'],
  ['UTC', '2028-02-29'],
] as const;

const expressions = [
  '*/7 0-3 * * *',
  '*/15 * * * *',
  '30 * * * *',
  '0 */2 * * *',
  '*/20 2 * * *',
  '15 2 * * *',
  '30 2 * * *',
  '0 3 * * *',
  '30 1 * * *',
  '45 1,2 * * *',
  '0,30 0-4 * * *',
  '5/25 1-3 * * *',
  '0 0 * * *',
  '59 23 * * *',
  '30 2 * * sun',
  '0 0 1 * 7',
  '0 2 28-31 * fri',
  '0 0 29 2 *',
  '10 0,1,2,3 25 3,10 *',
  '@hourly',
  '@daily',
  '@weekly',
];

describe.each(nights)('in %s around %s', (timeZone, day) => {
  const from = Date.parse(`${day}T00:00:00Z`) - dayMs;
  const range = [from, from + 3 * dayMs] as const;
  const table = wallTable(timeZone, range);

  it.each(expressions)('"%s" is due when a wall clock shows the time', (expression) => {
    const expected = dueByAsking(expression, table);
    const rule = { expression, timeZone };
    expect(dueBetween(times, rule, range)).toEqual(expected);
    expect(times.last(rule, range[1] - 1, expected.length + 1).filter((at) => at >= from)).toEqual(expected);
  });
});

describe('daylight saving time', () => {
  const local = (rule: CronRule, day: string) => {
    const from = Date.parse(`${day}T00:00:00+01:00`) - dayMs / 24;
    return dueBetween(times, rule, [from, from + dayMs]).map((at) => new Date(at).toISOString().slice(11, 16));
  };
  const berlin = (expression: string): CronRule => ({ expression, timeZone: 'Europe/Berlin' });

  it('a skipped time is due right after the jump', () => {
    expect(local(berlin('30 2 * * *'), '2026-03-29')).toEqual(['01:00']);
  });

  it('a repeated time is due once, the first time', () => {
    expect(local(berlin('30 2 * * *'), '2026-10-25')).toEqual(['00:30']);
  });

  it('an hourly expression is due in every hour that passes', () => {
    const hours = (day: string) => local(berlin('30 * * * *'), day).map((time) => time.slice(0, 2));
    const all = Array.from({ length: 24 }, (_, hour) => `${(hour + 22) % 24}`.padStart(2, '0'));
    expect(hours('2026-03-29')).toEqual(all);
    expect(hours('2026-10-25')).toEqual(all);
  });

  it('an interval has no times in the missing hour', () => {
    expect(local(berlin('*/20 2 * * *'), '2026-03-29')).toEqual([]);
    expect(local(berlin('*/20 2 * * *'), '2026-10-25').length).toBe(6);
  });
});

describe('the moments of an expression', () => {
  it('are read in its own zone, else in the given one, else in that of the machine', () => {
    const after = Date.parse('2026-06-01T00:00:00Z');
    const at = (expression: string, timeZone: string | null) =>
      new Date(times.next({ expression, timeZone }, after) ?? 0).toISOString().slice(11, 16);
    expect(at('CRON_TZ=Asia/Tokyo 0 12 * * *', 'Europe/Berlin')).toBe('03:00');
    expect(at('0 12 * * *', 'Europe/Berlin')).toBe('10:00');
    const machine = Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(at('0 12 * * *', null)).toBe(at('0 12 * * *', machine));
  });

  it('are after the start, without it, up to and including the end', () => {
    const noon = Date.parse('2026-06-01T12:00:00Z');
    const rule = { expression: '0 12 * * *', timeZone: 'UTC' };
    expect(times.next(rule, noon)).toBe(noon + dayMs);
    expect(times.next(rule, noon - 1)).toBe(noon);
    expect(times.last(rule, noon, 2)).toEqual([noon - dayMs, noon]);
    expect(times.last(rule, noon - 1, 1)).toEqual([noon - dayMs]);
  });

  it('are none for an expression that is never due', () => {
    const rule = { expression: '0 0 31 2 *', timeZone: 'UTC' };
    expect([times.next(rule, 0), times.last(rule, Date.parse('2026-01-01'), 3)]).toEqual([null, []]);
  });

  it('are the same forwards and backwards', () => {
    const zones = fc.constantFrom(...new Set(nights.map(([zone]) => zone)), 'America/St_Johns', 'Pacific/Chatham');
    const start = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-01-01') });
    fc.assert(
      fc.property(fc.constantFrom(...expressions), zones, start, (expression, timeZone, from) => {
        const rule = { expression, timeZone };
        const forwards = dueBetween(times, rule, [from + 1, from + 3 * dayMs], 40);
        const end = forwards.at(-1) ?? from;
        expect(times.last(rule, end, 40).filter((at) => at > from)).toEqual(forwards);
      }),
      { numRuns: 200 },
    );
  });
});

function dueBetween(
  { next }: CronTimes,
  rule: CronRule,
  [from, until]: readonly [number, number],
  most = Number.POSITIVE_INFINITY,
): number[] {
  const due: number[] = [];
  for (let at = next(rule, from - 1); at !== null && at < until && due.length < most; at = next(rule, at)) due.push(at);
  return due;
}

it('computes the next time of an expression once until it passes, whatever asks for it', async () => {
  const computed = vi.spyOn(Cron.prototype, 'nextRun');
  const { next } = await loadCronTimes();
  const daily = { expression: '0 5 * * *', timeZone: 'UTC' };
  const at = (text: string) => Date.parse(`2026-03-01T${text}Z`);
  const five = at('05:00:00');

  expect(['00:00:00', '01:00:00', '04:59:59'].map((now) => next(daily, at(now)))).toEqual([five, five, five]);
  expect(next({ ...daily }, at('02:00:00'))).toBe(five);
  expect(computed).toHaveBeenCalledTimes(1);
  expect(next(daily, five)).toBe(five + 86_400_000);
  expect(next(daily, at('03:00:00'))).toBe(five);
  expect(computed).toHaveBeenCalledTimes(3);
  expect([next({ expression: '0 5 31 2 *', timeZone: 'UTC' }, 0), computed.mock.calls.length]).toEqual([null, 4]);
});
