import { describe, expect, it } from 'vitest';
import { isNeverDue, parseCron, readCron } from '#language/cron.ts';

describe('a cron expression', () => {
  it.each([
    '* * * * *',
    '*/5 0-6,12 1,15 * ?',
    '0 5 * jan-MAR mon-fri',
    '0 0 * * 7',
    '0 0 * * fri-sun',
    '*/90 * * * *',
    '5/10 1-20/3 * * SUN',
    'CRON_TZ=Europe/Berlin 0 5 * * *',
    'TZ=UTC @daily',
    '@Hourly',
    '  0  5 * * * ',
  ])('is valid: %s', (expression) => {
    expect(readCron(expression)).not.toHaveProperty('message');
  });

  it.each([
    ['', '5 fields', ''],
    ['* * * *', 'has 4', '* * * *'],
    ['* * * * * *', 'has 6', '* * * * * *'],
    ['60 * * * *', 'minute "60"', '60'],
    ['* 24 * * *', 'hour "24"', '24'],
    ['* * 0 * *', 'day of month "0"', '0'],
    ['* * * 13 *', 'month "13"', '13'],
    ['* * * foo *', 'jan to dec', 'foo'],
    ['* * * * 8', 'day of week "8"', '8'],
    ['5-1 * * * *', 'ends before it starts', '5-1'],
    ['*/0 * * * *', 'the step must be a number', '*/0'],
    ['*/x * * * *', 'the step must be a number', '*/x'],
    ['1,,2 * * * *', 'a value is missing', '1,,2'],
    ['1-2-3 * * * *', 'not a range', '1-2-3'],
    ['1/2/3 * * * *', 'more than one "/"', '1/2/3'],
    ['-5 * * * *', 'a value is missing', '-5'],
    ['@every', 'is not one of', '@every'],
    ['0 0 * * sun-mon-tue', 'not a range', 'sun-mon-tue'],
    ['0 0 * * sat-mon', 'ends before it starts', 'sat-mon'],
    ['0 0 * * 1-sun-', 'not a range', '1-sun-'],
    ['CRON_TZ= * * * * *', 'time zone ""', 'CRON_TZ='],
    ['TZ=+01:00 0 5 * * *', 'time zone "+01:00"', 'TZ=+01:00'],
    ['TZ=Nowhere * * * * *', 'time zone "Nowhere"', 'TZ=Nowhere'],
  ])('is invalid: %s', (expression, message, text) => {
    const problem = readCron(expression);
    if (!('message' in problem)) throw new Error(`"${expression}" is read`);
    expect(problem.message).toContain(message);
    expect(problem.word.text).toBe(text);
    expect(expression.slice(problem.word.at)).toContain(text);
  });
});

describe('a cron expression is read', () => {
  const read = (expression: string) => {
    const { minute, hour, dayOfMonth, month, dayOfWeek } = parseCron(expression) ?? expect.unreachable();
    return [minute, hour, dayOfMonth, month, dayOfWeek].map((field) => (field.isAny ? '*' : field.values.join()));
  };

  it.each([
    ['* ? */1 * *', '* * * * *'],
    ['*/20 5/8 1-10/4 jan,MAR-may 7', '0,20,40 5,13,21 1,5,9 1,3,4,5 0'],
    ['*/90 0 * * fri-sun', '0 0 * * 0,5,6'],
    ['5,1-3,2 0 * * 0-7', '1,2,3,5 0 * * 0,1,2,3,4,5,6'],
    ['@weekly', '0 0 * * 0'],
    ['@YEARLY', '0 0 1 1 *'],
    ['TZ=UTC @hourly', '0 * * * *'],
  ])('%s as %s', (expression, fields) => {
    expect(read(expression).join(' ')).toBe(fields);
  });

  it('with its zone', () => {
    expect(parseCron('CRON_TZ=Asia/Tokyo @daily')?.timeZone).toBe('Asia/Tokyo');
    expect(parseCron('@daily')?.timeZone).toBeNull();
  });

  it.each([
    ['*', false, true],
    ['?', false, true],
    ['*/2', true, true],
    ['0-58/2', true, false],
    ['1,2', true, false],
  ])('reports whether a minute of "%s" is restricted, and whether it is an interval', (minute, restricts, isWild) => {
    expect(parseCron(`${minute} * * * *`)?.minute).toMatchObject({ isAny: !restricts, isWild });
  });

  it.each([
    ['0 0 31 2 *', true],
    ['0 0 30-31 feb *', true],
    ['0 0 31 2,4,6,9,11 *', true],
    ['0 0 29 2 *', false],
    ['0 0 31 2,3 *', false],
    ['0 0 31 2 1', false],
    ['0 0 */31 2 *', false],
    ['0 0 * 2 *', false],
  ])('and never due: %s', (expression, never) => {
    expect(isNeverDue(parseCron(expression) ?? expect.unreachable())).toBe(never);
  });
});
