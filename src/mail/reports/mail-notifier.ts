import type { Step, Workflow } from '../../core/workflow.ts';
import type { Notice, Notify } from '../../engine/local/notices.ts';
import type { MailNoticeOptions, MailOccasion } from './mail-notice.ts';

/**
 * Mails about runs and steps as `mailOn` asks for it. A mail that could not be sent, or not to all, is told as a line;
 * that changes no outcome.
 */
export function createMailNotifier(options: MailNoticeOptions): Notify {
  return (notice) => {
    const occasion = occasionFor(notice);
    if (occasion === null) return null;
    return import('./mail-notice.ts').then(({ sendNotice }) => sendNotice(notice, occasion, options));
  };
}

/** Null when nobody asked for a mail. Whoever kills a run knows how it ended, and does not wait for a mail server. */
function occasionFor({ status, step, state, workflow }: Notice): MailOccasion | null {
  if (state.cancellation?.force) return null;
  const mailOn: Partial<Workflow['mailOn']> & Step['mailOn'] = step === null ? workflow.mailOn : step.mailOn;
  const occasion = occasionOf(status);
  return occasion !== null && mailOn[occasion] ? occasion : null;
}

/** What was skipped did nothing that anybody waits for; a step that was not reached is told of with its run. */
function occasionOf(status: Notice['status']): MailOccasion | null {
  switch (status) {
    case 'succeeded':
    case 'partially_succeeded':
      return 'success';
    case 'failed':
      return 'failure';
    case 'canceled':
      return 'cancel';
    case 'skipped':
    case 'upstream_failed':
      return null;
  }
}
