import type { FinishedStatus, SettledStatus } from './run/run.ts';
import type { RunState } from './run/run-state.ts';
import type { Notification, NotificationEvent, Step, Workflow } from './workflow.ts';

/** What a notice may be about: a run, or a step of it, that got a status. */
type Subject = {
  readonly step: Pick<Step, 'mailOn'> | null;
  readonly status: FinishedStatus | SettledStatus | 'waiting' | 'late';
  readonly workflow: Pick<Workflow, 'mailOn' | 'notify'>;
  readonly state: Pick<RunState, 'cancellation'>;
};

/** Outcomes that can trigger a mail. */
export type MailOccasion = 'success' | 'failure' | 'cancel' | 'wait' | 'late';

/** The event to notify of when a run or step gets a status; null: none. */
export function notificationEvent(status: Subject['status']): Exclude<NotificationEvent, 'recovery'> | null {
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

/** The mail that `mailOn` asks for; null if none, or if the run was killed: the user does not wait for a mail server. */
export function mailOccasion({ status, step, state, workflow }: Subject): MailOccasion | null {
  if (state.cancellation?.force) return null;
  const mailOn: Partial<Workflow['mailOn']> & Step['mailOn'] = step === null ? workflow.mailOn : step.mailOn;
  const event = notificationEvent(status);
  // Skipped steps send no mail; steps that were not reached are covered by the mail about the run.
  if (event === null || event === 'skipped') return null;
  const occasion = event === 'waiting' ? 'wait' : event;
  return mailOn[occasion] ? occasion : null;
}

/** The event of which `notify` may ask for a notification; null if none, or if the run was killed. */
export function notifiedEvent({ status, step, state, workflow }: Subject): ReturnType<typeof notificationEvent> {
  if (step !== null || workflow.notify === undefined || state.cancellation?.force) return null;
  const event = notificationEvent(status);
  const mayRecover = event === 'success';
  return event !== null && workflow.notify.some(({ on }) => reported(on, event, mayRecover)) ? event : null;
}

/** The event that a notification for `on` reports; null: none. `isRecovery`: the success followed a failed run. */
export function reported(
  on: Notification['on'],
  event: NotificationEvent,
  isRecovery: boolean,
): NotificationEvent | null {
  if (isRecovery && on.includes('recovery')) return 'recovery';
  return on.includes(event) || on.includes('always') ? event : null;
}
