import { type CronField, parseCron } from '#language/cron.ts';

/** A minute as a clock on the wall shows it. */
type WallTime = { readonly day: number; readonly month: number; readonly year: number; readonly minuteOfDay: number };

const minuteMs = 60_000;

/** What a clock in a zone shows, minute by minute: pairs of the moment and the minutes since 1970 on the wall. */
export type WallTable = { readonly from: number; readonly minutes: readonly (readonly [at: number, shown: number])[] };

/** Asks what the clock shows for every minute of a range; from a day before it, so that it is known what comes twice. */
export function wallTable(timeZone: string, [from, until]: readonly [number, number]): WallTable {
  const clock = wallClock(timeZone);
  const count = (until - from) / minuteMs + 24 * 60;
  const moments = Array.from({ length: count }, (_, index) => from - 24 * 60 * minuteMs + index * minuteMs);
  return { from, minutes: moments.map((at) => [at, wallMinutes(clock(at))] as const) };
}

/** When an expression is due in the range of a table, without any arithmetic on calendars. */
export function dueByAsking(expression: string, { from, minutes }: WallTable): number[] {
  const cron = parseCron(expression) ?? fail(expression);
  const isInterval = cron.minute.isWild || cron.hour.isWild;
  let latest = minutes[0]?.[1] ?? 0;
  return minutes.flatMap(([at, shown]) => {
    const isNew = shown > latest;
    const jumpedOver = isInterval ? [] : between(latest, shown);
    latest = Math.max(latest, shown);
    const isDue = [...(isNew || isInterval ? [shown] : []), ...jumpedOver].some((minute) => matches(cron, minute));
    return isDue && at >= from ? [at] : [];
  });
}

function wallClock(timeZone: string): (at: number) => WallTime {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  return (at) => {
    const [day, month, year, hour, minute] = (format.format(at).match(/\d+/g) ?? []).map(Number);
    return { day: day ?? 0, month: month ?? 0, year: year ?? 0, minuteOfDay: (hour ?? 0) * 60 + (minute ?? 0) };
  };
}

/** The minutes since 1970 of a wall that knows no zones. */
function wallMinutes({ day, month, year, minuteOfDay }: WallTime): number {
  return Date.UTC(year, month - 1, day) / minuteMs + minuteOfDay;
}

function between(before: number, after: number): number[] {
  return Array.from({ length: Math.max(0, after - before - 1) }, (_, index) => before + 1 + index);
}

function matches(cron: ReturnType<typeof parseCron> & object, minutes: number): boolean {
  const shown = new Date(minutes * minuteMs);
  const has = (field: CronField, value: number) => field.values.includes(value);
  const isDate = has(cron.dayOfMonth, shown.getUTCDate());
  const isWeekday = has(cron.dayOfWeek, shown.getUTCDay());
  const isDay = cron.dayOfMonth.isAny || cron.dayOfWeek.isAny ? isDate && isWeekday : isDate || isWeekday;
  return (
    has(cron.minute, shown.getUTCMinutes()) &&
    has(cron.hour, shown.getUTCHours()) &&
    has(cron.month, shown.getUTCMonth() + 1) &&
    isDay
  );
}

function fail(expression: string): never {
  throw new Error(`"${expression}" is no cron expression`);
}
