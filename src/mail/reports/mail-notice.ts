import { summarize } from '../../core/run/summarize.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import { PathProblem } from '../../core/words/json-path.ts';
import type { MailSettings } from '../../core/workflow.ts';
import type { Notice } from '../../engine/local/notices.ts';
import type { LogPaths } from '../../store/store.ts';
import { addresses } from '../addresses.ts';
import { MailProblem } from '../problem.ts';
import { type Mail, type Sent, sendMail } from '../send.ts';
import { mailServer } from '../server.ts';
import { type AttachedLogs, attachLogs } from './mail-logs.ts';
import { type ReportFacts, report } from './mail-report.ts';

/** For which outcomes a workflow or a step mails. */
export type MailOccasion = 'success' | 'failure' | 'cancel';

/** What a mail about a run is made with. */
export type MailNoticeOptions = {
  /** Reads the last lines of a step's log. */
  readonly readTail: (paths: LogPaths, lines: number) => readonly string[];
  /** The name of this machine. */
  readonly host: string;
  /** The commands that exist and may therefore be suggested. */
  readonly commands: { readonly retry: boolean };
};

const tailLines = 20;
const noLogs: AttachedLogs = { attachments: [], cut: [] };

/** Sends the mail; resolves to what could not be told to whom. */
export async function sendNotice(
  notice: Notice,
  occasion: MailOccasion,
  options: MailNoticeOptions,
): Promise<readonly string[]> {
  const { workflow, expand, signal } = notice;
  try {
    const server = mailServer(workflow.smtp, expand);
    return tellRefused(await sendMail(server, makeMail(notice, occasion, options), { signal }));
  } catch (error) {
    if (!(error instanceof MailProblem || error instanceof PathProblem)) throw error;
    const why = signal.aborted ? String(signal.reason) : error.message;
    return [`the mail about this ${nouns[occasion]} was not sent: ${why}`];
  }
}

const nouns: { readonly [occasion in MailOccasion]: string } = {
  success: 'success',
  failure: 'failure',
  cancel: 'cancellation',
};

function makeMail(notice: Notice, occasion: MailOccasion, options: MailNoticeOptions): Mail {
  const { expand } = notice;
  const [key, settings] = settingsFor(notice, occasion);
  const facts = factsOf(notice, options);
  const logs = settings.attachLogs ? attachLogs(facts.summary, notice.logPaths) : noLogs;
  return {
    from: addresses([settings.from], `${key}.from`, expand),
    // One text: a name may hold a comma, and stands in two entries then.
    to: addresses([settings.to.join(', ')], `${key}.to`, expand),
    ...report(settings.prefix, facts, logs.cut),
    attachments: logs.attachments,
    // Keeps the answers of people who are away from coming back (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function settingsFor({ workflow }: Notice, occasion: MailOccasion): readonly [key: string, settings: MailSettings] {
  const key = occasion === 'success' ? 'infoMail' : 'errorMail';
  const settings = workflow[key];
  if (settings === null) throw new MailProblem(`the workflow has no "${key}"`);
  for (const part of ['from', 'to'] as const) {
    if (settings[part].length === 0) throw new MailProblem(`"${key}" has no "${part}"`);
  }
  return [key, settings];
}

function factsOf(
  { step, status, state, isMasked, logPaths }: Notice,
  { readTail, host, commands }: MailNoticeOptions,
): ReportFacts {
  const summary = summarize(state, (name, attempt) => logPaths(name, attempt).stdoutPath);
  return {
    summary,
    step: step?.name ?? null,
    status,
    host,
    tail: ({ name, attempts }) => (attempts === 0 ? [] : readTail(logPaths(name, attempts), tailLines)),
    again: commands.retry ? retryOf(summary, isMasked) : null,
  };
}

function tellRefused({ refused }: Sent): readonly string[] {
  return refused.map((receiver) => `the mail did not reach ${receiver}`);
}

/** The command that retries an ended run; null for a success, and where a masked workflow has no file to take instead. */
function retryOf({ runId, status, file }: RunSummary, isMasked: boolean): string | null {
  if (status !== 'failed' && status !== 'canceled') return null;
  if (!isMasked) return `wf retry ${runId}`;
  return file === null ? null : `wf retry ${runId} --file`;
}
