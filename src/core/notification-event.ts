import type { FinishedStatus, SettledStatus } from './run/run.ts';
import type { NotificationEvent } from './workflow.ts';

/** The event to notify of when a run or step gets a status; null: none. */
export function notificationEvent(
  status: FinishedStatus | SettledStatus | 'waiting' | 'late',
): Exclude<NotificationEvent, 'recovery'> | null {
  switch (status) {
    case 'succeeded':
    case 'partially_succeeded':
      return 'success';
    case 'failed':
      return 'failure';
    case 'canceled':
      return 'cancel';
    case 'skipped':
      return 'skipped';
    case 'waiting':
    case 'late':
      return status;
    case 'upstream_failed':
      return null;
  }
}
