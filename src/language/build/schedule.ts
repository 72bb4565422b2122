import { parseSpan } from '#core/time-text.ts';
import type { Schedule } from '#core/workflow.ts';
import type { RawSchedule, RawScheduleEntry, RawWorkflow } from '../raw.ts';
import { parseMoment, scheduleEntries } from '../schedule-entries.ts';

/** `schedule` and the keys beside it, with their defaults; `notOn`: days without scheduled starts. */
export function scheduleOf(
  { schedule, timezone, overlap, skipIfSuccessful, catchup, catchupWindow }: RawWorkflow,
  notOn: readonly string[],
): Schedule {
  const windowMs = catchupWindow === undefined ? null : parseSpan(catchupWindow);
  return {
    ...expressionsOf(schedule),
    ...(notOn.length === 0 ? {} : { notOn }),
    timeZone: timezone ?? null,
    overlap: overlap ?? 'skip',
    ...(overlap === undefined ? {} : { isOverlapGiven: true as const }),
    ...(skipIfSuccessful === true ? { skipIfSuccessful } : {}),
    // A window implies that there is something to catch up on; newer programs of this family have only the window.
    catchup: catchup ?? (windowMs === null ? 'none' : 'latest'),
    catchupWindowMs: windowMs,
  };
}

function expressionsOf(schedule: RawSchedule | undefined): Pick<Schedule, 'start' | 'stop' | 'restart'> {
  const entries = scheduleEntries(schedule);
  const expressions = (wanted: 'start' | 'stop' | 'restart') =>
    entries.flatMap(({ action, entry }) => {
      if (action !== wanted) return [];
      return typeof entry === 'string' ? [entry] : (entry.expression ?? momentOf(entry) ?? []);
    });
  return { start: expressions('start'), stop: expressions('stop'), restart: expressions('restart') };
}

function momentOf({ at }: Exclude<RawScheduleEntry, string>): string | null {
  return at === undefined ? null : (parseMoment(at)?.toISOString() ?? null);
}
