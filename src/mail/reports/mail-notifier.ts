import { notificationEvent } from '#core/notification-event.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import type { Notice, Notify } from '#engine/engine.ts';
import type { MailNoticeOptions, MailOccasion } from './mail-notice.ts';

/** Sends mails about runs and steps according to `mailOn`; failed deliveries are reported and change no outcome. */
export function createMailNotifier(options: MailNoticeOptions): Notify {
  return (notice) => {
    const occasion = occasionFor(notice);
    if (occasion === null) return null;
    return import('./mail-notice.ts').then(({ sendNotice }) => sendNotice(notice, occasion, options));
  };
}

/** Null if no mail is configured, or if the run was killed: the user knows and does not wait for a mail server. */
function occasionFor({ status, step, state, workflow }: Notice): MailOccasion | null {
  if (state.cancellation?.force) return null;
  const mailOn: Partial<Workflow['mailOn']> & Step['mailOn'] = step === null ? workflow.mailOn : step.mailOn;
  const event = notificationEvent(status);
  // Skipped steps send no mail; steps that were not reached are covered by the mail about the run.
  if (event === null || event === 'skipped') return null;
  const occasion = event === 'waiting' ? 'wait' : event;
  return mailOn[occasion] ? occasion : null;
}
