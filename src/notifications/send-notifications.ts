import { reported } from '#core/notification-event.ts';
import { numberValues, withNotifyNumbers } from '#core/step-numbers.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Notification, NotificationEvent } from '#core/workflow.ts';
import type { Attach, Attached, Notice } from '#engine/engine.ts';
import { SettingProblem } from '#executors/http/header-fields.ts';
import { failuresIn } from '#render/text.ts';
import { pause } from '#system/time-limit.ts';
import { type Content, deliver, type Message, messageFor, runText, runTitle } from './messages.ts';

/** Dependencies of notifications. */
export type NotifierOptions = {
  /** Provides proxies and certificates. */
  readonly env: Readonly<Record<string, string>>;
  /** The address of the daemon for people, without a slash at the end; null: none. */
  readonly publicUrl: string | null;
  /** Whether the run of this workflow that finished before this one failed. */
  readonly failedBefore: (notice: Notice) => Promise<boolean>;
  /** Returns the summary of the run of a notice, with its failures and at most `lines` last lines of each. */
  readonly summaryOf: (notice: Notice, lines: number) => Promise<RunSummary>;
  readonly attach: Attach;
};

/** Sends every notification for an event of a run; resolves to warnings about those that were not sent. */
export async function sendNotifications(
  notice: Notice,
  event: NotificationEvent,
  options: NotifierOptions,
): Promise<readonly string[]> {
  const { notify = [] } = notice.workflow;
  const isRecovery =
    event === 'success' && notify.some(({ on }) => on.includes('recovery')) && (await options.failedBefore(notice));
  const sent = notify.map(async (notification) => {
    const about = reported(notification.on, event, isRecovery);
    if (about === null) return [];
    const { delivery, leftOut } = await sendOne(notification, { notice, event: about }, options);
    const { to, host, problem } = delivery;
    const where = `the notification to ${host === null ? to : `${to} (${host})`}`;
    return problem === null ? leftOut.map((reason) => `${where}: ${reason}`) : [`${where} was not sent: ${problem}`];
  });
  return (await Promise.all(sent)).flat();
}

/** The result of sending a notification; `problem` is null if it was accepted. Shows no part of the URL but the host. */
export type Delivery = { readonly to: string; readonly host: string | null; readonly problem: string | null };

/** `leftOut`: the artifacts that were not sent with it. */
type Sent = { readonly delivery: Delivery } & Pick<Attached, 'leftOut'>;

/** A message of Discord has at most 10 files; other addresses get more. */
const maxFiles = { discord: 10, others: 100 };

/** Sends one notification. */
export async function sendOne(
  notification: Notification,
  { notice, event }: { readonly notice: Notice; readonly event: NotificationEvent },
  { env, publicUrl, summaryOf, attach }: Omit<NotifierOptions, 'failedBefore'>,
): Promise<Sent> {
  const { to } = notification;
  const { signal, scope } = notice;
  let host: string | null = null;
  let leftOut: Attached['leftOut'] = [];
  const sent = (problem: string | null): Sent => ({ delivery: { to, host, problem }, leftOut });
  try {
    const read = numberValues(notification.numbers ?? [], scope);
    if ('problem' in read) throw new SettingProblem(read.problem);
    const { lines, timeoutMs } = withNotifyNumbers(notification, read.values);
    const summary = await summaryOf(notice, lines);
    const most = maxFiles[to === 'discord' ? to : 'others'];
    const attached = notification.attach === undefined ? null : await attach(notice, notification.attach, most);
    leftOut = attached?.leftOut ?? [];
    const files = attached?.files ?? [];
    const message = messageAbout({ ...notification, lines }, { notice, event, summary, files }, publicUrl);
    host = message.url.host;
    const problem = await deliver(message, { env, timeoutMs, signal, pause });
    return sent(problem !== null && signal.aborted ? String(signal.reason) : problem);
  } catch (error) {
    if (!(error instanceof SettingProblem || error instanceof PathProblem)) throw error;
    return sent(error.message);
  }
}

/** Throws a `SettingProblem` or a `PathProblem`. */
function messageAbout(
  notification: Notification,
  { notice, event, summary, files }: Pick<Content, 'event' | 'summary' | 'files'> & { readonly notice: Notice },
  publicUrl: string | null,
): Message {
  const { title, message } = notification;
  const [first] = failuresIn(summary).failures;
  const runUrl = publicUrl === null ? null : `${publicUrl}/runs/${summary.runId}`;
  const own = new Map([
    ['WF_RUN_ID', summary.runId],
    ['WF_WORKFLOW', summary.workflow],
    ['WF_STATUS', summary.status],
    ['WF_ERROR', summary.error ?? first?.error ?? ''],
    ['WF_FAILED_STEP', first?.path[0] ?? ''],
    ['WF_RUN_URL', runUrl ?? ''],
  ]);
  const scope = (name: string) => own.get(name) ?? notice.scope(name);
  const masked = (text: string) => notice.mask(expandText(text, scope));
  return messageFor(notification, scope, {
    event,
    title: title === null ? runTitle(summary, event) : masked(title),
    parts: message === null ? runText(summary) : [{ text: masked(message) }],
    runUrl,
    summary,
    files,
  });
}
