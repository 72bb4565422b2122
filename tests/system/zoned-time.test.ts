import { describe, expect, it } from 'vitest';
import { parseTime, zonedText } from '#system/zoned-time.ts';

const at = (iso: string) => Date.parse(iso);

describe('the text of a time', () => {
  it.each([
    ['2026-11-26T01:00:00Z', 'Europe/Berlin', '2026-11-26T02:00:00+01:00'],
    ['2026-06-01T23:30:59.999Z', 'Europe/Berlin', '2026-06-02T01:30:59+02:00'],
    ['2026-11-26T01:00:00Z', 'UTC', '2026-11-26T01:00:00Z'],
    ['2026-01-01T03:00:00Z', 'America/St_Johns', '2025-12-31T23:30:00-03:30'],
    ['2026-11-26T18:30:00Z', 'Asia/Kathmandu', '2026-11-27T00:15:00+05:45'],
    // In the night of the change, a time of day occurs twice.
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00+02:00'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00+01:00'],
  ])('%s in %s is %s', (iso, zone, text) => {
    expect(zonedText(at(iso), zone)).toBe(text);
    expect(parseTime(text, null)).toBe(Math.floor(at(iso) / 1000) * 1000);
  });

  it('is in the zone of the machine without another one', () => {
    const text = zonedText(at('2026-11-26T01:00:00Z'), null);
    expect(text).toBe(zonedText(at('2026-11-26T01:00:00Z'), Intl.DateTimeFormat().resolvedOptions().timeZone));
  });
});

describe('a time without an offset', () => {
  it.each([
    ['2026-11-26', '2026-11-25T23:00:00Z'],
    ['2026-11-26 02:00', '2026-11-26T01:00:00Z'],
    [' 2026-06-01T02:00:30 ', '2026-06-01T00:00:30Z'],
    // Skipped: an hour later.
    ['2026-03-29T02:30', '2026-03-29T01:30:00Z'],
    // Twice: the first.
    ['2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    ['2026-10-25T03:00', '2026-10-25T02:00:00Z'],
  ])('%j in Berlin is %s', (text, iso) => {
    expect(parseTime(text, 'Europe/Berlin')).toBe(at(iso));
  });

  it.each(['2026-02-30', '2026-1-1', '26-01-01', 'yesterday', '2026-01-01T25:00', '2026-01-01 10', ''])(
    '%j is not a time',
    (text) => {
      expect(parseTime(text, 'Europe/Berlin')).toBeNull();
    },
  );

  it.each([
    ['2026-11-26T02:00:00+01:00', '2026-11-26T01:00:00Z'],
    ['2026-11-26 02:00Z', '2026-11-26T02:00:00Z'],
    ['2026-11-26T02:00z', '2026-11-26T02:00:00Z'],
  ])('the zone does not change %j', (text, iso) => {
    expect(parseTime(text, 'Europe/Berlin')).toBe(at(iso));
  });
});
