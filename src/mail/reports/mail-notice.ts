import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import type { MailOccasion } from '#core/notification-event.ts';
import type { Failure, RunSummary, StepSummary } from '#core/summary/summary.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { MailSettings } from '#core/workflow.ts';
import type { Attach, Notice, NoticeStatus } from '#engine/engine.ts';
import {
  escapeHtml,
  failurePath,
  failureReason,
  failuresIn,
  formatDuration,
  lateTexts,
  pendingApprovals,
  utcTime,
} from '#render/text.ts';
import { readExcerpt, readTail } from '#store/log-ends.ts';
import type { LogFile, RunLogs } from '#store/logs.ts';
import { type Attachment, addresses, type Mail, MailProblem, mailServer, sendMail } from '../send-mail.ts';

/** Facts about a run, or one of its steps, for a mail. */
export type ReportFacts = {
  readonly summary: RunSummary;
  /** Null if the mail is about the run. */
  readonly step: string | null;
  /** Status of the step or the run; `waiting`: for approval; `late`: of a run that continues. */
  readonly status: NoticeStatus;
  readonly host: string;
  /** The last lines of the step of the mail; empty if the mail is about the run, or the step failed. */
  readonly tail: readonly string[];
  readonly again: string | null;
};

/** Limits: rows, and line length; further steps are only counted. */
const most = { rows: 500, lineLength: 500 };

/** Terminal escape sequences and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Renders the mail about a run or a step. `cut`: notes about truncated logs. */
export function renderMailReport(prefix: string, facts: ReportFacts, cut: readonly string[]) {
  const heads = headRows(facts);
  const steps = [...facts.summary.steps, ...facts.summary.handlers];
  const rows = [columns, ...steps.slice(0, most.rows).map(stepRow)];
  const failures = failureParts(facts);
  const notes = [
    ...approvalNotes(facts),
    ...lateTexts(facts.summary).map((text) => `${text}.`),
    ...(steps.length > most.rows ? [`${steps.length - most.rows} more steps are not shown.`] : []),
    ...cut,
    ...(facts.again === null ? [] : [`Retry with: ${facts.again}`]),
  ];
  return {
    subject: subject(prefix, facts),
    message: htmlPage([
      htmlTable(heads),
      htmlTable(rows),
      ...failures.map(([title, lines]) => `<h3>${escapeHtml(title)}</h3><pre>${escapeHtml(lines.join('\n'))}</pre>`),
      ...notes.map((note) => `<p>${escapeHtml(note)}</p>`),
    ]),
    text: [
      textTable(heads),
      textTable(rows),
      ...failures.map(([title, lines]) => [title, ...lines.map((line) => `  ${line}`)].join('\n')),
      ...notes,
    ]
      .map((part) => `${part}\n`)
      .join('\n'),
  };
}

function subject(prefix: string, { summary, step, status }: ReportFacts): string {
  const what = step === null ? summary.workflow : `${summary.workflow}: step ${step}`;
  const does = { waiting: 'waits for approval', late: 'is late' } as const;
  const end = status === 'waiting' || status === 'late' ? does[status] : words(status);
  return `${prefix} ${what} ${end}`.replace(/\s+/g, ' ').trim();
}

function headRows({ summary, host }: ReportFacts): readonly (readonly string[])[] {
  const { workflow, runId, file, status, error, trigger, retryOf, startedAt, finishedAt, durationMs } = summary;
  const rows: readonly (readonly [string, string | null])[] = [
    ['Workflow', workflow],
    ['Status', words(status)],
    ['Reason', error],
    ['Run', runId],
    ['Retry of', retryOf],
    ['File', file],
    ['Started by', trigger],
    ['Started', startedAt === null ? null : utcTime(startedAt)],
    ['Finished', finishedAt === null ? null : utcTime(finishedAt)],
    ['Took', durationMs === null ? null : formatDuration(durationMs)],
    ['Host', host],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, oneLine(value)]]));
}

const columns = ['Step', 'Status', 'Started', 'Finished', 'Took', 'Error'];

function stepRow({ name, status, startedAt, finishedAt, durationMs, error }: StepSummary): readonly string[] {
  const [from, to] = [startedAt, startedAt && finishedAt].map((at) => (at === null ? '' : utcTime(at)));
  const took = durationMs === null ? '' : formatDuration(durationMs);
  return [name, words(status), from ?? '', to ?? '', took, error ?? ''].map(oneLine);
}

/** The failures with their last lines; in a mail about one step only those of that step, or its last lines. */
function failureParts({ summary, step, tail }: ReportFacts): readonly (readonly [string, readonly string[]])[] {
  const { failures, moreFailures } = failuresIn(summary);
  const shown =
    step === null
      ? failures
      : failures.filter(({ path: [node = ''] }) => node === step || splitInstanceName(node)?.step === step);
  const own = shown.length === 0 && tail.length > 0 && step !== null;
  return [
    ...shown.map(
      (failure) => [`${oneLine(failurePath(failure))}: ${oneLine(failureReason(failure))}`, linesOf(failure)] as const,
    ),
    ...(own ? [[`Last lines of "${oneLine(step)}"`, tail.map(oneLine)] as const] : []),
    ...(step === null && moreFailures > 0 ? [[`and ${moreFailures} more failed`, []] as const] : []),
  ];
}

function linesOf(failure: Failure): readonly string[] {
  return [...failure.lines.map(oneLine), ...(failure.command === null ? [] : [`log: ${failure.command}`])];
}

function approvalNotes({ summary }: ReportFacts): readonly string[] {
  return pendingApprovals(summary).flatMap(({ text, approve, reject }) => [
    oneLine(text),
    `Approve with: ${approve}`,
    `Reject with: ${reject}`,
  ]);
}

function htmlPage(parts: readonly string[]): string {
  return `<!doctype html>\n<html><body style="font-family: sans-serif">\n${parts.join('\n')}\n</body></html>\n`;
}

function htmlTable(rows: readonly (readonly string[])[]): string {
  const style = 'style="border-collapse: collapse" border="1" cellpadding="4"';
  const lines = rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`);
  return `<table ${style}>\n${lines.join('\n')}\n</table><br>`;
}

function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `partially_succeeded` in plain words; a step kept from running by a failure was not run. */
function words(status: string): string {
  return status === 'upstream_failed' ? 'not run' : status.replaceAll('_', ' ');
}

function oneLine(text: string): string {
  const plain = text.replace(CONTROLS, '').replaceAll('\n', ' ');
  return plain.length > most.lineLength ? `${plain.slice(0, most.lineLength)}...` : plain;
}

/** Dependencies of mails about runs. */
export type MailNoticeOptions = {
  readonly host: string;
  readonly commands: { readonly retry: boolean };
  readonly summaryOf: (notice: Notice, lines: number) => Promise<RunSummary>;
  readonly attach: Attach;
};

const TAIL_LINES = 20;
/** Attached artifacts. */
const MAX_FILES = 100;

/** Sends the mail; resolves to warnings about failed deliveries. */
export async function sendNotice(
  notice: Notice,
  occasion: MailOccasion,
  options: MailNoticeOptions,
): Promise<readonly string[]> {
  const { workflow, signal } = notice;
  try {
    const server = mailServer(workflow.smtp, (text) => expandText(text, notice.scope));
    const { refused } = await sendMail(server, await makeMail(notice, occasion, options), { signal });
    return refused.map((receiver) => `the mail did not reach ${receiver}`);
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
  late: 'delay',
};

async function makeMail(notice: Notice, occasion: MailOccasion, options: MailNoticeOptions): Promise<Mail> {
  const expand = (text: string) => expandText(text, notice.scope);
  const [key, settings] = settingsFor(notice, occasion);
  const facts = await factsOf(notice, options);
  const none = { files: [], leftOut: [] };
  const { files, leftOut } =
    settings.attach === undefined ? none : await options.attach(notice, settings.attach, MAX_FILES);
  const room = files.reduce((left, { content }) => left - content.length, maxBytes.all);
  const logs = settings.attachLogs ? await attachLogs(facts.summary, notice.logs, room) : { attachments: [], cut: [] };
  return {
    from: addresses([settings.from], `${key}.from`, expand),
    // Joined first, since a name may contain a comma and is then split over two entries.
    to: addresses([settings.to.join(', ')], `${key}.to`, expand),
    ...renderMailReport(settings.prefix, facts, [...leftOut, ...logs.cut]),
    attachments: [...files.map(({ name, content }) => ({ filename: name, content })), ...logs.attachments],
    // Suppresses out-of-office replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function settingsFor({ workflow }: Notice, occasion: MailOccasion): readonly [key: string, settings: MailSettings] {
  const usual = occasion === 'success' || occasion === 'wait' ? 'infoMail' : 'errorMail';
  const key = occasion === 'wait' && workflow.waitMail !== undefined ? 'waitMail' : usual;
  const settings = workflow[key] ?? null;
  if (settings === null) throw new MailProblem(`the workflow has no "${key}"`);
  for (const part of ['from', 'to'] as const) {
    if (settings[part].length === 0) throw new MailProblem(`"${key}" has no "${part}"`);
  }
  return [key, settings];
}

async function factsOf(notice: Notice, { host, commands, summaryOf }: MailNoticeOptions): Promise<ReportFacts> {
  const { step, status, isMasked, logs } = notice;
  const summary = await summaryOf(notice, TAIL_LINES);
  const own = [...summary.steps, ...summary.handlers].find(({ name }) => name === step?.name);
  const tail =
    own === undefined || own.attempts === 0
      ? []
      : await readTail(logs, { step: own.name, attempt: own.attempts }, TAIL_LINES);
  const again = commands.retry ? retryOf(summary, isMasked) : null;
  return { summary, step: step?.name ?? null, status, host, tail, again };
}

/** The command that retries an ended run; null for a success, and where a masked workflow has no file to take instead. */
function retryOf({ runId, status, file }: RunSummary, isMasked: boolean): string | null {
  if (status !== 'failed' && status !== 'canceled') return null;
  if (!isMasked) return `wf retry ${runId}`;
  return file === null ? null : `wf retry ${runId} --file`;
}

const MEBIBYTE = 1024 * 1024;
/** Size limits in bytes: mail servers mostly accept 10 to 25 MB, and the encoding adds a third. */
const maxBytes = { each: MEBIBYTE, all: 10 * MEBIBYTE };

/** Attaches the output of the last attempts, in all `room` bytes, truncated to its end if too long, and notes what was truncated. */
export async function attachLogs(
  { steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>,
  logs: RunLogs,
  room: number = maxBytes.all,
): Promise<{ readonly attachments: readonly Attachment[]; readonly cut: readonly string[] }> {
  const attachments: Attachment[] = [];
  const cut: string[] = [];
  let left = room;
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
