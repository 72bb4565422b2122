import type { Notification, NotificationEvent } from '#core/workflow.ts';

/** The event that a notification for `on` reports; null: none. `isRecovery`: the success followed a failed run. */
export function reported(
  on: Notification['on'],
  event: NotificationEvent,
  isRecovery: boolean,
): NotificationEvent | null {
  if (isRecovery && on.includes('recovery')) return 'recovery';
  return on.includes(event) || on.includes('always') ? event : null;
}
