import type { ChalkInstance } from 'chalk';
import type { StoredEvent } from '#core/run/run.ts';
import { type Failure, failedSteps, type RunSummary, type StepSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Recap, Terminal } from '../reporters/reporter.ts';
import { failureCommand, failuresIn } from '../text/failures.ts';
import { behindGutter, columnsOf, type LinePart, packLines } from '../text/pack-lines.ts';
import { fileText, positionText } from '../text/position-text.ts';
import { answerText, hideSecretParams, paramsText, statusText, stepStatusText } from '../text/run-text.ts';
import { escapeControls, stripControls } from '../text/sanitize.ts';
import {
  commandLines,
  pendingApprovals,
  type SuggestedCommands,
  shellQuote,
  suggestRetry,
} from '../text/suggested-commands.ts';
import { chooseGlyphs, createColors, type Glyphs, paintStatus } from '../text/terminal-style.ts';
import { formatDuration, shortId } from '../text/value-text.ts';
import { cut, nameText } from '../text/width.ts';

/** The options of a recap. */
export type RecapOptions = {
  /** File names are relative to it. */
  readonly cwd: string;
  readonly commands: SuggestedCommands;
};

/** The properties of a terminal that a recap uses; lines are broken if the size is known. */
type RecapTerminal = Pick<Terminal, 'color' | 'unicode'> & Partial<Pick<Terminal, 'isTerminal' | 'size'>>;

/** Renders the result of a run: counts, warnings, failures with their last lines, approvals, and the command for a retry. */
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
    ...approvedLines(summary, style),
    ...approvalLines(recap, style),
    ...retryLines(recap, style),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headline(summary: RunSummary, { colors, glyphs, columns }: RecapStyle): readonly string[] {
  const word = statusText(summary.status).toUpperCase();
  const paintWord = (text: string) => colors.bold(paintStatus(summary.status, colors, text));
  const name = nameText(summary.workflow, glyphs.ellipsis);
  const time = summary.durationMs === null ? '' : ` in ${formatDuration(summary.durationMs)}`;
  const counts = countsText(summary, glyphs.separator);
  const title = {
    text: `${word} ${name}${time}`,
    paint: () => `${paintWord(word)} ${colors.bold(name)}${time}`,
  };
  return packLines([title, ...(counts === '' ? [] : [{ text: counts, paint: (text: string) => text }])], 3, columns);
}

/** The statuses in words, in the order of the counts. */
const countOrder = [
  ...['succeeded', 'up to date', 'failed', 'failed (tolerated)', 'skipped', 'canceled', 'not run'],
  ...['running', 'waiting', 'scheduled', 'not reached'],
];

function countsText({ steps, strict }: RunSummary, separator: string): string {
  const counts = new Map<string, number>();
  for (const { status, tolerated, upToDate } of steps) {
    const isTolerated = status === 'failed' && tolerated !== undefined && strict !== true;
    const word = isTolerated ? 'failed (tolerated)' : upToDate ? 'up to date' : stepStatusText(status);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const saved = savedMs(steps);
  return [
    ...countOrder.flatMap((word) => (counts.has(word) ? [`${counts.get(word)} ${word}`] : [])),
    ...(saved === 0 ? [] : [`${formatDuration(saved)} saved`]),
  ].join(separator);
}

/** The durations of the attempts that up-to-date steps and instances did not make. */
function savedMs(steps: readonly StepSummary[]): number {
  return steps.reduce((sum, { cache, items = [] }) => sum + (cache?.savedMs ?? 0) + savedMs(items), 0);
}

/** Returns the reason for the result, if the steps do not show it. */
function reasonLines(summary: RunSummary): readonly string[] {
  const isTold = summary.reason === 'step' && failedSteps(summary).length > 0;
  if (summary.error === null || summary.error === '' || isTold) return [];
  return [`  ${escapeControls(summary.error)}`];
}

/** Returns the approved steps, each with the person and the comment; a rejected one is a failure. */
function approvedLines({ steps }: RunSummary, { colors }: RecapStyle): readonly string[] {
  return steps.flatMap(({ name, approval }) => {
    const answer = approval?.answer ?? null;
    if (approval === undefined || answer !== 'approved') return [];
    return [`${colors.bold(nameText(name))} ${answerText({ ...approval, answer })}`];
  });
}

/** Returns the steps that wait for approval, those of child runs too, each with the command that approves it. */
function approvalLines({ summary, children }: Recap, style: RecapStyle, where = ''): readonly string[] {
  const { commands, colors, columns } = style;
  const own = pendingApprovals(summary, commands.options).flatMap(({ step, asks, approve }) => [
    `${colors.bold(nameText(step))}${where}${asks}`,
    ...commandLines('  approve:', approve, columns).map((line) => colors.dim(line)),
  ]);
  const inner = [...(children ?? [])].flatMap(([step, child]) =>
    approvalLines(child, style, ` in ${nameText(child.summary.workflow)}, run by ${nameText(step)},`),
  );
  return [...own, ...inner];
}

/** Printed once, since the command is the same for all failed steps. */
function retryLines(recap: Recap, { commands, colors, columns }: RecapStyle): readonly string[] {
  const { summary, kept } = recap;
  if (!kept || !commands.retry || failedSteps(summary).length === 0) return [];
  if (recap.masked && summary.file === null) return [];
  const command = suggestRetry(summary.runId, commands.options, recap.masked);
  return ['', ...commandLines('retry what failed:', command, columns).map((line) => colors.dim(line))];
}

/** The style of a recap; `columns` is `Infinity` if lines are not broken. */
type RecapStyle = RecapOptions & {
  readonly colors: ChalkInstance;
  readonly glyphs: Glyphs;
  readonly columns: number;
};

const TAIL_LINES = 10;
const WIDEST_TAIL = 500;

/** Renders each failure, and the number of those that are left out. */
function failureLines({ summary }: Recap, style: RecapStyle): readonly string[] {
  const { failures, moreFailures } = failuresIn(summary);
  return [
    ...failures.flatMap((failure) => oneFailure(failure, style)),
    ...(moreFailures > 0 ? [`and ${moreFailures} more failed`] : []),
  ];
}

function oneFailure(failure: Failure, style: RecapStyle): readonly string[] {
  const { colors, glyphs } = style;
  return [
    ...packLines(factsOf(failure, style), 3, style.columns),
    ...failure.lines
      .slice(-TAIL_LINES)
      .map((line) => cut(stripControls(line), WIDEST_TAIL, glyphs.ellipsis))
      .flatMap((line) => behindGutter(line, `  ${colors.dim(glyphs.bar)} `, style.columns)),
    ...logsLines(failure, style),
  ];
}

function factsOf(failure: Failure, { colors, glyphs, cwd }: RecapStyle): readonly LinePart[] {
  const { path, place: position, tolerated, attempts, kept, runId, note } = failure;
  const plain = (text: string): LinePart => ({ text, paint: (shown) => shown });
  const mark = `${tolerated === undefined ? glyphs.status.failed : glyphs.tolerated} `;
  const paintMark = tolerated === undefined ? colors.red : colors.yellow;
  return [
    {
      text: mark + path.map((name) => nameText(name, glyphs.ellipsis)).join(' > '),
      paint: (text) => `${paintMark(mark.trim())} ${colors.bold(text.slice(mark.length))}`,
    },
    plain(escapeControls(failure.error)),
    ...(tolerated === undefined ? [] : [plain(`tolerated by continueOn.${tolerated}`)]),
    ...(attempts > 1 ? [plain(`after ${attempts} attempts`)] : []),
    ...(kept ? [plain(`in run ${escapeControls(shortId(runId))}, not run again`)] : []),
    ...(note === undefined ? [] : [plain(escapeControls(note))]),
    ...(position === null
      ? []
      : [{ text: positionText({ file: position.file, start: position }, cwd), paint: colors.cyan }]),
  ];
}

function logsLines(failure: Failure, { commands, colors, cwd, columns }: RecapStyle): readonly string[] {
  const command = failureCommand(failure, commands.options);
  if (command === null) return [];
  if (!commands.logs) {
    return failure.log === null ? [] : [colors.dim(`  log: ${fileText(failure.log, cwd)}`)];
  }
  const all = `wf logs${commands.options ?? ''} ${shellQuote(shortId(failure.runId))}`;
  const label = command.startsWith('wf logs') ? '  logs:' : '  status:';
  return commandLines(label, command, columns, all).map((line) => colors.dim(line));
}

/** Parameters can have any size; longer ones are cut. */
const WIDEST_PARAMS = 500;

/** Renders the first line of a run: `▶ nightly-etl  01997c3e-1a2b  env=prod`, with the parameters as given. */
export function headerLine(
  workflow: Pick<Workflow, 'name' | 'secrets'>,
  created: Pick<Extract<StoredEvent, { type: 'run.created' }>, 'runId' | 'params'>,
  terminal: RecapTerminal,
): string {
  const colors = createColors(terminal.color);
  const glyphs = chooseGlyphs(terminal.unicode);
  const params = paramsText(hideSecretParams(created.params, workflow));
  const plain = (text: string) => text;
  const name = nameText(workflow.name, glyphs.ellipsis);
  const parts = [
    { text: `${glyphs.run} ${name}`, paint: () => `${colors.cyan(glyphs.run)} ${colors.bold(name)}` },
    { text: escapeControls(shortId(created.runId)), paint: colors.dim },
    ...(params === '' ? [] : [{ text: cut(params, WIDEST_PARAMS, glyphs.ellipsis), paint: plain }]),
  ];
  return packLines(parts, 2, columnsOf(terminal)).join('\n');
}
