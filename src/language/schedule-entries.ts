import type { Path } from './problem.ts';
import { asList, type RawSchedule, type RawScheduleEntry } from './raw.ts';

/** An entry of `schedule`, for what it is and where it is in the file. */
export type ScheduleEntry = {
  readonly action: 'start' | 'stop' | 'restart';
  readonly path: Path;
  readonly entry: RawScheduleEntry;
};

const actions = ['start', 'stop', 'restart'] as const;

/** Returns the entries of a schedule, whichever of its forms it has. */
export function scheduleEntries(schedule: RawSchedule | undefined): readonly ScheduleEntry[] {
  if (schedule === undefined) return [];
  if (!isMapOfActions(schedule)) return entriesOf('start', ['schedule'], schedule);
  return actions.flatMap((action) => entriesOf(action, ['schedule', action], schedule[action] ?? []));
}

type MapOfActions = Extract<RawSchedule, { readonly start?: unknown }>;

function isMapOfActions(schedule: RawSchedule): schedule is MapOfActions {
  return typeof schedule === 'object' && !Array.isArray(schedule) && !('kind' in schedule);
}

function entriesOf(
  action: ScheduleEntry['action'],
  path: Path,
  value: RawScheduleEntry | readonly RawScheduleEntry[],
): readonly ScheduleEntry[] {
  const isList = Array.isArray(value);
  return asList<RawScheduleEntry>(value).map((entry, index) => ({
    action,
    path: isList ? [...path, index] : path,
    entry,
  }));
}

/** A date and time with an offset from UTC, by RFC 3339. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

/** Reads a moment; null if it is invalid. */
export function parseMoment(text: string): Date | null {
  const moment = RFC_3339.test(text) && isDay(text.slice(0, 10)) ? new Date(text.replace(' ', 'T')) : null;
  return moment === null || Number.isNaN(moment.getTime()) ? null : moment;
}

/** The forms of a day of `notOn`. */
export const DAYS_HELP = 'Write a day as "2026-12-25", or as "12-25" for every year.';

/** Whether a text is a day that exists: `2026-12-25`, or `12-25` for one of every year. */
export function isDay(text: string): boolean {
  // A leap year: 02-29 is a day of some years.
  const day = /^\d\d-\d\d$/.test(text) ? `2024-${text}` : text;
  return /^\d{4}-\d\d-\d\d$/.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;
}
