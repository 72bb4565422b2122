import { closeSync, fstatSync, readSync } from 'node:fs';
import { summarize } from '../../core/run/summarize.ts';
import type { RunSummary, StepSummary } from '../../core/run/summary.ts';
import { PathProblem } from '../../core/words/json-path.ts';
import type { MailSettings } from '../../core/workflow.ts';
import type { Notice } from '../../engine/engine.ts';
import { openRegular } from '../../regular-file.ts';
import type { LogPaths } from '../../store/store.ts';
import { addresses } from '../addresses.ts';
import { MailProblem } from '../mail-problem.ts';
import { mailServer } from '../mail-server.ts';
import { type Attachment, type Mail, type Sent, sendMail } from '../send-mail.ts';
import { type ReportFacts, report } from './mail-report.ts';

/** Outcomes that can trigger a mail. */
export type MailOccasion = 'success' | 'failure' | 'cancel';

/** Dependencies of mails about runs. */
export type MailNoticeOptions = {
  /** Reads the last lines of a step's log. */
  readonly readTail: (paths: LogPaths, lines: number) => readonly string[];
  /** Name of this machine. */
  readonly host: string;
  /** Commands that the mail may suggest. */
  readonly commands: { readonly retry: boolean };
};

const tailLines = 20;
const noLogs: AttachedLogs = { attachments: [], cut: [] };

/** Sends the mail; resolves to warnings about failed deliveries. */
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
    // Joined first, since a name may contain a comma and is then split over two entries.
    to: addresses([settings.to.join(', ')], `${key}.to`, expand),
    ...report(settings.prefix, facts, logs.cut),
    attachments: logs.attachments,
    // Suppresses out-of-office replies (RFC 3834).
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

/** Logs to attach, and a note for each truncated one. */
type AttachedLogs = { readonly attachments: readonly Attachment[]; readonly cut: readonly string[] };

const mebibyte = 1024 * 1024;
/** Size limits in bytes: mail servers mostly accept 10 to 25 MB, and the encoding adds a third. */
const maxBytes = { each: mebibyte, all: 10 * mebibyte };

/** Attaches the output of every step's last attempt, truncated to its end if too long; skips empty streams. */
export function attachLogs(
  { steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>,
  logPaths: (step: string, attempt: number) => LogPaths,
): AttachedLogs {
  const attachments: Attachment[] = [];
  const cut: string[] = [];
  let left = maxBytes.all;
  for (const { filename, path } of [...steps, ...handlers].flatMap((step) => logFiles(step, logPaths))) {
    const { content, size } = readEnd(path, Math.min(maxBytes.each, left));
    left -= content.length;
    if (content.length > 0) attachments.push({ filename, content });
    if (content.length < size) cut.push(cutLine(filename, content.length, size));
  }
  return { attachments, cut };
}

function logFiles({ name, attempts }: StepSummary, logPaths: (step: string, attempt: number) => LogPaths) {
  if (attempts === 0) return [];
  const { stdoutPath, stderrPath } = logPaths(name, attempts);
  const base = name.replace(/[^\p{L}\p{N}._-]+/gu, '_');
  return [
    { filename: `${base}.stdout.log`, path: stdoutPath },
    { filename: `${base}.stderr.log`, path: stderrPath },
  ];
}

function cutLine(filename: string, kept: number, size: number): string {
  return kept === 0
    ? `${filename} is left out (${size} bytes)`
    : `${filename} contains the last ${kept} of ${size} bytes`;
}

/** Returns an empty buffer for an unreadable file: the mail is still worth sending. */
function readEnd(path: string, most: number): { readonly content: Buffer; readonly size: number } {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    const { size } = fstatSync(fd);
    const content = Buffer.alloc(Math.min(size, most));
    return { content: content.subarray(0, readSync(fd, content, 0, content.length, size - content.length)), size };
  } catch {
    return { content: Buffer.alloc(0), size: 0 };
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
