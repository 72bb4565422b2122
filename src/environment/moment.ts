import { given } from '#core/data/collections.ts';
import type { RunCreated, ScheduledMoment } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { nextTimeOfDay, zonedText } from '#system/zoned-time.ts';
import type { Environment } from './environment.ts';

/**
 * The variables of the moment for which a run was started, in the time zone of its workflow. Without one it is the creation of
 * the run, so that a file with a schedule can be started by hand.
 */
export function momentVariables(
  { schedule: { timeZone } }: Pick<Workflow, 'schedule'>,
  moment: ScheduledMoment | undefined,
  createdAt: number,
): Environment {
  const { scheduledFor = createdAt, previousFor } = moment ?? {};
  const text = zonedText(scheduledFor, timeZone);
  return {
    WF_SCHEDULED_FOR: text,
    WF_SCHEDULED_DATE: text.slice(0, 10),
    WF_PREVIOUS_FOR: previousFor === undefined ? '' : zonedText(previousFor, timeZone),
  };
}

/** The times after which a run of the schedule is late: unless it has started, and unless it has ended. */
export function latestTimes(
  { late, schedule }: Pick<Workflow, 'late' | 'schedule'>,
  { scheduledFor }: ScheduledMoment,
): Pick<RunCreated, 'startBy' | 'lateBy'> {
  const { afterMs, by } = late ?? {};
  return given({
    startBy: afterMs === undefined ? null : scheduledFor + afterMs,
    lateBy: by === undefined ? null : nextTimeOfDay(scheduledFor, by, schedule.timeZone),
  });
}
