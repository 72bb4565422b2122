import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { MailSettings } from '#core/workflow.ts';
import type { Notice } from '#engine/engine.ts';
import { readExcerpt, readTail } from '#store/log-ends.ts';
import type { LogFile, RunLogs } from '#store/logs.ts';
import { addresses } from '../addresses.ts';
import { MailProblem } from '../mail-problem.ts';
import { mailServer } from '../mail-server.ts';
import { type Attachment, type Mail, type Sent, sendMail } from '../send-mail.ts';
import { type ReportFacts, renderMailReport } from './mail-report.ts';

/** Outcomes that can trigger a mail. */
export type MailOccasion = 'success' | 'failure' | 'cancel' | 'wait';

/** Dependencies of mails about runs. */
export type MailNoticeOptions = {
  /** Name of this machine. */
  readonly host: string;
  /** Commands that the mail may suggest. */
  readonly commands: { readonly retry: boolean };
  /** Returns the summary of the run of a notice, with its failures. */
  readonly summaryOf: (notice: Notice, lines: number) => Promise<RunSummary>;
};

const tailLines = 20;
const noLogs: AttachedLogs = { attachments: [], cut: [] };

/** Sends the mail; resolves to warnings about failed deliveries. */
export async function sendNotice(
  notice: Notice,
  occasion: MailOccasion,
  options: MailNoticeOptions,
): Promise<readonly string[]> {
  const { workflow, signal } = notice;
  try {
    const server = mailServer(workflow.smtp, (text) => expandText(text, notice.scope));
    return tellRefused(await sendMail(server, await makeMail(notice, occasion, options), { signal }));
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
  wait: 'wait',
};

async function makeMail(notice: Notice, occasion: MailOccasion, options: MailNoticeOptions): Promise<Mail> {
  const expand = (text: string) => expandText(text, notice.scope);
  const [key, settings] = settingsFor(notice, occasion);
  const facts = await factsOf(notice, options);
  const logs = settings.attachLogs ? await attachLogs(facts.summary, notice.logs) : noLogs;
  return {
    from: addresses([settings.from], `${key}.from`, expand),
    // Joined first, since a name may contain a comma and is then split over two entries.
    to: addresses([settings.to.join(', ')], `${key}.to`, expand),
    ...renderMailReport(settings.prefix, facts, logs.cut),
    attachments: logs.attachments,
    // Suppresses out-of-office replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function settingsFor({ workflow }: Notice, occasion: MailOccasion): readonly [key: string, settings: MailSettings] {
  const key = mailKey(workflow, occasion);
  const settings = workflow[key] ?? null;
  if (settings === null) throw new MailProblem(`the workflow has no "${key}"`);
  for (const part of ['from', 'to'] as const) {
    if (settings[part].length === 0) throw new MailProblem(`"${key}" has no "${part}"`);
  }
  return [key, settings];
}

function mailKey({ waitMail }: Notice['workflow'], occasion: MailOccasion): 'errorMail' | 'infoMail' | 'waitMail' {
  if (occasion === 'wait' && waitMail !== undefined) return 'waitMail';
  return occasion === 'success' || occasion === 'wait' ? 'infoMail' : 'errorMail';
}

async function factsOf(notice: Notice, { host, commands, summaryOf }: MailNoticeOptions): Promise<ReportFacts> {
  const { step, status, isMasked, logs } = notice;
  const summary = await summaryOf(notice, tailLines);
  const own = [...summary.steps, ...summary.handlers].find(({ name }) => name === step?.name);
  const tail =
    own === undefined || own.attempts === 0
      ? []
      : await readTail(logs, { step: own.name, attempt: own.attempts }, tailLines);
  return {
    summary,
    step: step?.name ?? null,
    status,
    host,
    tail,
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

/** Logs to attach, and a note for each truncated one. */
type AttachedLogs = { readonly attachments: readonly Attachment[]; readonly cut: readonly string[] };

const mebibyte = 1024 * 1024;
/** Size limits in bytes: mail servers mostly accept 10 to 25 MB, and the encoding adds a third. */
const maxBytes = { each: mebibyte, all: 10 * mebibyte };

/** Attaches the output of every step's last attempt, truncated to its end if too long; skips empty logs. */
export async function attachLogs(
  { steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>,
  logs: RunLogs,
): Promise<AttachedLogs> {
  const attachments: Attachment[] = [];
  const cut: string[] = [];
  let left = maxBytes.all;
  const files = await Promise.all([...steps, ...handlers].map((step) => logFiles(step, logs)));
  for (const { filename, file } of files.flat()) {
    const { head, tail, size } = await readExcerpt(file, { head: 0, tail: Math.min(maxBytes.each, left) });
    const content = Buffer.concat([head, tail]);
    left -= content.length;
    if (content.length > 0) attachments.push({ filename, content });
    if (content.length < size) cut.push(cutLine(filename, content.length, size));
  }
  return { attachments, cut };
}

async function logFiles(
  { name, attempts }: StepSummary,
  logs: RunLogs,
): Promise<readonly { readonly filename: string; readonly file: LogFile }[]> {
  if (attempts === 0) return [];
  const base = name.replace(/[^\p{L}\p{N}._-]+/gu, '_');
  return (await logs.streams(name, attempts)).map((stream) => ({
    filename: stream === 'output' ? `${base}.log` : `${base}.${stream}.log`,
    file: logs.file(name, attempts, stream),
  }));
}

function cutLine(filename: string, kept: number, size: number): string {
  return kept === 0
    ? `${filename} is left out (${size} bytes)`
    : `${filename} contains the last ${kept} of ${size} bytes`;
}
