import type { ChalkInstance } from 'chalk';
import type { FinishedStatus, StepStatus } from '../core/run.ts';
import type { RunSummary, StepSummary } from '../core/summary.ts';
import { createColors } from './colors.ts';
import { formatDuration } from './duration.ts';
import { cut } from './fit.ts';
import { chooseGlyphs, type Glyphs } from './glyphs.ts';
import { fileText, placeText } from './place-text.ts';
import type { Recap, Terminal } from './reporter.ts';
import { escapeControls, stripControls } from './sanitize.ts';
import { shellQuote } from './shell-quote.ts';
import { shortId } from './short-id.ts';

/** What a recap depends on beside the run. */
export type RecapOptions = {
  /** Files are named relative to it. */
  readonly cwd: string;
  /** The commands that exist and may therefore be suggested, and what each needs, with a space before it. */
  readonly commands: { readonly logs: boolean; readonly retry: boolean; readonly options?: string };
};

type Style = RecapOptions & { readonly colors: ChalkInstance; readonly glyphs: Glyphs };

/** Beyond this many failed steps the rest is only counted. */
const mostFailures = 20;
const tailLines = 10;
const widestTail = 500;

/**
 * What a run came to: one line with counts, then the warnings, then each failed step with its place in the file, its
 * last lines, and where to look or what to type next. Ends with a line end.
 */
export function renderRecap(
  recap: Recap,
  terminal: Pick<Terminal, 'color' | 'unicode'>,
  options: RecapOptions,
): string {
  const style = { ...options, colors: createColors(terminal.color), glyphs: chooseGlyphs(terminal.unicode) };
  const { summary } = recap;
  const failed = [...summary.steps, ...summary.handlers].filter((step) => step.status === 'failed');
  const lines = [
    headline(summary, style),
    ...reasonLines(summary, failed.length),
    ...summary.warnings.map((warning) => `${style.colors.yellow('warning:')} ${escapeControls(warning)}`),
    ...failed.slice(0, mostFailures).flatMap((step) => failureLines(step, recap, style)),
    ...(failed.length > mostFailures ? [`and ${failed.length - mostFailures} more failed`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headline(summary: RunSummary, { colors, glyphs }: Style): string {
  const word = colors.bold(paintStatus(summary.status, colors, statusText(summary.status).toUpperCase()));
  const time = summary.durationMs === null ? '' : ` in ${formatDuration(summary.durationMs)}`;
  const counts = countsText(summary.steps, glyphs.separator);
  return `${word} ${colors.bold(escapeControls(summary.workflow))}${time}${counts === '' ? '' : `   ${counts}`}`;
}

/** A run's status in words: `partially succeeded`. */
export function statusText(status: RunSummary['status']): string {
  return status.replace('_', ' ');
}

/** Paints a text in the colour that a run's status has; one that is not over has none. */
export function paintStatus(status: RunSummary['status'], colors: ChalkInstance, text: string): string {
  return isFinished(status) ? finishedColor(status, colors)(text) : text;
}

function isFinished(status: RunSummary['status']): status is FinishedStatus {
  return status !== 'queued' && status !== 'running' && status !== 'canceling' && status !== 'handling';
}

function finishedColor(status: FinishedStatus, colors: ChalkInstance): (text: string) => string {
  switch (status) {
    case 'succeeded':
      return colors.green;
    case 'partially_succeeded':
    case 'canceled':
    case 'skipped':
      return colors.yellow;
    case 'failed':
      return colors.red;
  }
}

/** In the order in which they are told. */
const countWords: Readonly<Record<StepStatus, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  skipped: 'skipped',
  canceled: 'canceled',
  upstream_failed: 'not run',
  running: 'running',
  waiting: 'waiting',
  scheduled: 'scheduled',
  pending: 'not reached',
};

function countsText(steps: readonly StepSummary[], separator: string): string {
  const counts = new Map<StepStatus, number>();
  for (const { status } of steps) counts.set(status, (counts.get(status) ?? 0) + 1);
  return (Object.keys(countWords) as StepStatus[])
    .flatMap((status) => (counts.has(status) ? [`${counts.get(status)} ${countWords[status]}`] : []))
    .join(separator);
}

/** Why the run ended so, where its steps do not tell. */
function reasonLines(summary: RunSummary, failedSteps: number): readonly string[] {
  const isTold = summary.reason === 'step' && failedSteps > 0;
  if (summary.error === null || summary.error === '' || isTold) return [];
  return [`  ${escapeControls(summary.error)}`];
}

function failureLines(step: StepSummary, recap: Recap, style: Style): readonly string[] {
  const { colors, glyphs } = style;
  const place = recap.places.get(step.name);
  const origin = recap.origins.get(step.name);
  const parts = [
    `${colors.red(glyphs.status.failed)} ${colors.bold(escapeControls(step.name))}`,
    escapeControls(step.error ?? 'failed'),
    ...(step.attempts > 1 ? [`after ${step.attempts} attempts`] : []),
    ...(origin === undefined ? [] : [`in run ${escapeControls(shortId(origin))}, not run again`]),
    ...(place === undefined ? [] : [colors.cyan(placeText(place, style.cwd))]),
  ];
  const tail = (recap.tails.get(step.name) ?? []).slice(-tailLines);
  return [
    parts.join('   '),
    ...tail.map((line) =>
      `  ${colors.dim(glyphs.bar)} ${cut(stripControls(line), widestTail, glyphs.ellipsis)}`.trimEnd(),
    ),
    ...(recap.kept ? whatNext(step, recap, style) : []),
  ];
}

function whatNext(step: StepSummary, { summary, origins }: Recap, { commands, colors, cwd }: Style): readonly string[] {
  const id = shellQuote(shortId(summary.runId));
  const logsId = shellQuote(shortId(origins.get(step.name) ?? summary.runId));
  const log = step.log === null ? [] : [`log: ${fileText(step.log, cwd)}`];
  const { options = '' } = commands;
  const hints = [
    ...(commands.logs ? [`logs: wf logs${options} ${logsId} ${nameArgument(step.name)}`] : log),
    ...(commands.retry ? [`again from here: wf retry${options} ${id}`] : []),
  ];
  return hints.length === 0 ? [] : [colors.dim(`  ${hints.join('        ')}`)];
}

/** A name that starts with a dash must not be taken for an option. */
function nameArgument(name: string): string {
  return name.startsWith('-') ? `-- ${shellQuote(name)}` : shellQuote(name);
}
