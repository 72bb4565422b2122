import type { ChalkInstance } from 'chalk';
import type { FinishedStatus, StepStatus } from '../../core/run/run.ts';
import type { RunSummary, StepSummary } from '../../core/run/summary.ts';
import type { Recap, Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { formatDuration } from '../text/duration.ts';
import { chooseGlyphs } from '../text/glyphs.ts';
import { nameText } from '../text/name-text.ts';
import { columnsOf, packLines } from '../text/pack-lines.ts';
import { escapeControls } from '../text/sanitize.ts';
import { commandLines, retryCommand, type SuggestedCommands } from './recap-commands.ts';
import { failureLines, type RecapStyle } from './recap-failure.ts';

/** What a recap depends on beside the run. */
export type RecapOptions = {
  /** Files are named relative to it. */
  readonly cwd: string;
  readonly commands: SuggestedCommands;
};

/** What of a terminal a recap depends on; lines are broken for one whose size is known. */
export type RecapTerminal = Pick<Terminal, 'color' | 'unicode'> & Partial<Pick<Terminal, 'isTerminal' | 'size'>>;

/**
 * What a run came to: one line with counts, then the warnings, then each failed step with its place in the file, its last
 * lines and the command that prints the rest; at the end the command that runs again what failed. Ends with a line end.
 */
export function renderRecap(recap: Recap, terminal: RecapTerminal, options: RecapOptions): string {
  const style: RecapStyle = {
    ...options,
    colors: createColors(terminal.color),
    glyphs: chooseGlyphs(terminal.unicode),
    columns: columnsOf(terminal),
  };
  const { summary } = recap;
  const lines = [
    ...headline(summary, style),
    ...reasonLines(summary),
    ...summary.warnings.map((warning) => `${style.colors.yellow('warning:')} ${escapeControls(warning)}`),
    ...failureLines(recap, style),
    ...retryLines(recap, style),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headline(summary: RunSummary, { colors, glyphs, columns }: RecapStyle): readonly string[] {
  const word = statusText(summary.status).toUpperCase();
  const paintWord = (text: string) => colors.bold(paintStatus(summary.status, colors, text));
  const name = nameText(summary.workflow, glyphs.ellipsis);
  const time = summary.durationMs === null ? '' : ` in ${formatDuration(summary.durationMs)}`;
  const counts = countsText(summary.steps, glyphs.separator);
  const title = {
    text: `${word} ${name}${time}`,
    paint: () => `${paintWord(word)} ${colors.bold(name)}${time}`,
  };
  return packLines([title, ...(counts === '' ? [] : [{ text: counts, paint: (text: string) => text }])], 3, columns);
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
function reasonLines(summary: RunSummary): readonly string[] {
  const isTold = summary.reason === 'step' && failedSteps(summary).length > 0;
  if (summary.error === null || summary.error === '' || isTold) return [];
  return [`  ${escapeControls(summary.error)}`];
}

/** Once, whatever number of steps failed: the command is the same for all of them. */
function retryLines(recap: Recap, { commands, colors, columns }: RecapStyle): readonly string[] {
  const { summary, kept } = recap;
  if (!kept || !commands.retry || failedSteps(summary).length === 0) return [];
  if (recap.masked && summary.file === null) return [];
  const command = retryCommand(summary.runId, commands.options, recap.masked);
  return ['', ...commandLines('retry what failed:', command, columns).map((line) => colors.dim(line))];
}

function failedSteps({ steps, handlers }: RunSummary): readonly StepSummary[] {
  return [...steps, ...handlers].filter(({ status }) => status === 'failed');
}
