import { mailOccasion } from '#core/notification-event.ts';
import type { Notify } from '#engine/engine.ts';
import type { MailNoticeOptions } from './mail-notice.ts';

/** Sends mails about runs and steps according to `mailOn`; failed deliveries are reported and change no outcome. */
export function createMailNotifier(options: MailNoticeOptions): Notify {
  return (notice) => {
    const occasion = mailOccasion(notice);
    if (occasion === null) return null;
    return import('./mail-notice.ts').then(({ sendNotice }) => sendNotice(notice, occasion, options));
  };
}
