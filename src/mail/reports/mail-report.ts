import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import type { FinishedStatus, SettledStatus } from '#core/run/run.ts';
import type { Failure, RunSummary } from '#core/summary/summary.ts';
import { pendingApprovals } from '#render/text/approve-command.ts';
import { formatDuration, utcTime } from '#render/text/duration.ts';
import { escapeHtml } from '#render/text/escape-html.ts';
import { failurePath, failureReason, failuresIn } from '#render/text/failures.ts';

/** Facts about a run, or one of its steps, for a mail. */
export type ReportFacts = {
  readonly summary: RunSummary;
  /** Null if the mail is about the run. */
  readonly step: string | null;
  /** Status of the step or the run; `waiting`: for approval. */
  readonly status: FinishedStatus | SettledStatus | 'waiting';
  readonly host: string;
  /** The last lines of the step of the mail; empty if the mail is about the run, or the step failed. */
  readonly tail: readonly string[];
  /** The command to retry; null if there is none. */
  readonly again: string | null;
};

/** The content of a mail: HTML, and the same as text. */
export type Report = { readonly subject: string; readonly message: string; readonly text: string };

/** Limits: rows, and line length; further steps are only counted. */
const most = { rows: 500, lineLength: 500 };

/** Terminal escape sequences and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Renders the mail about a run or a step. `cut`: notes about truncated logs. */
export function renderMailReport(prefix: string, facts: ReportFacts, cut: readonly string[]): Report {
  const heads = headRows(facts);
  const rows = stepRows(facts);
  const failures = failureParts(facts);
  const notes = [
    ...approvalNotes(facts),
    ...leftOut(facts),
    ...cut,
    ...(facts.again === null ? [] : [`Retry with: ${facts.again}`]),
  ];
  return {
    subject: subject(prefix, facts),
    message: htmlPage([
      htmlTable(heads),
      htmlTable([columns, ...rows]),
      ...failures.map(([title, lines]) => `<h3>${escapeHtml(title)}</h3><pre>${escapeHtml(lines.join('\n'))}</pre>`),
      ...notes.map((note) => `<p>${escapeHtml(note)}</p>`),
    ]),
    text: [
      textTable(heads),
      textTable([columns, ...rows]),
      ...failures.map(([title, lines]) => [title, ...lines.map((line) => `  ${line}`)].join('\n')),
      ...notes,
    ]
      .map((part) => `${part}\n`)
      .join('\n'),
  };
}

function subject(prefix: string, { summary, step, status }: ReportFacts): string {
  const what = step === null ? summary.workflow : `${summary.workflow}: step ${step}`;
  return `${prefix} ${what} ${status === 'waiting' ? 'waits for approval' : words(status)}`.replace(/\s+/g, ' ').trim();
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

function stepRows({ summary: { steps, handlers } }: ReportFacts): readonly (readonly string[])[] {
  return [...steps, ...handlers]
    .slice(0, most.rows)
    .map(({ name, status, startedAt, finishedAt, durationMs, error }) => [
      name,
      words(status),
      startedAt === null ? '' : utcTime(startedAt),
      startedAt === null || finishedAt === null ? '' : utcTime(finishedAt),
      durationMs === null ? '' : formatDuration(durationMs),
      error ?? '',
    ])
    .map((row) => row.map(oneLine));
}

/** The failures with their last lines; in a mail about one step only those of that step, or its last lines. */
function failureParts({ summary, step, tail }: ReportFacts): readonly (readonly [string, readonly string[]])[] {
  const { failures, moreFailures } = failuresIn(summary);
  const shown = step === null ? failures : failures.filter(({ path }) => isOf(path[0] ?? '', step));
  const own = shown.length === 0 && tail.length > 0 && step !== null;
  return [
    ...shown.map(
      (failure) => [`${oneLine(failurePath(failure))}: ${oneLine(failureReason(failure))}`, linesOf(failure)] as const,
    ),
    ...(own ? [[`Last lines of "${oneLine(step)}"`, tail.map(oneLine)] as const] : []),
    ...(step === null && moreFailures > 0 ? [[`and ${moreFailures} more failed`, []] as const] : []),
  ];
}

/** Whether a node is a step or one of its instances. */
function isOf(node: string, step: string): boolean {
  return node === step || splitInstanceName(node)?.step === step;
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

function leftOut({ summary: { steps, handlers } }: ReportFacts): readonly string[] {
  const count = steps.length + handlers.length - most.rows;
  return count > 0 ? [`${count} more steps are not shown.`] : [];
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
  const plain = text.replace(controls, '').replaceAll('\n', ' ');
  return plain.length > most.lineLength ? `${plain.slice(0, most.lineLength)}...` : plain;
}
