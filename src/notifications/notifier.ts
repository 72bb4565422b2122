import { notifiedEvent } from '#core/notification-event.ts';
import type { Notify } from '#engine/engine.ts';
import type { NotifierOptions } from './send-notifications.ts';

/** Sends the notifications that `notify` asks for. Failures are reported as lines and change no outcome. */
export function createNotifier(options: NotifierOptions): Notify {
  return (notice) => {
    const event = notifiedEvent(notice);
    if (event === null) return null;
    return import('./send-notifications.ts').then(({ sendNotifications }) => sendNotifications(notice, event, options));
  };
}

/** Joins several kinds of notifications. */
export function joinNotifiers(...all: readonly Notify[]): Notify {
  return (notice) => {
    const sent = all.flatMap((notify) => notify(notice) ?? []);
    return sent.length === 0 ? null : Promise.all(sent).then((problems) => problems.flat());
  };
}
