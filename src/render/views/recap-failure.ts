import type { ChalkInstance } from 'chalk';
import type { StepSummary } from '../../core/run/summary.ts';
import type { Recap } from '../reporters/reporter.ts';
import { cut } from '../text/fit.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { nameText } from '../text/name-text.ts';
import { type LinePart, packLines } from '../text/pack-lines.ts';
import { fileText, placeText } from '../text/place-text.ts';
import { escapeControls, stripControls } from '../text/sanitize.ts';
import { shellQuote } from '../text/shell-quote.ts';
import { shortId } from '../text/short-id.ts';
import { commandLines, logsCommand, type SuggestedCommands } from './recap-commands.ts';

/** How a recap is written; `columns` is `Infinity` where no line is broken. */
export type RecapStyle = {
  readonly cwd: string;
  readonly commands: SuggestedCommands;
  readonly colors: ChalkInstance;
  readonly glyphs: Glyphs;
  readonly columns: number;
};

/** Beyond this many failed steps the rest is only counted. */
const mostFailures = 20;
const tailLines = 10;
const widestTail = 500;

/**
 * Each failed step with its place in the file, its last lines, and the command that prints all of them; of a step that ran
 * another workflow the failed steps of that one, with its commands.
 */
export function failureLines(recap: Recap, style: RecapStyle): readonly string[] {
  const { steps, handlers } = recap.summary;
  const failed = [...steps, ...handlers].filter(({ status }) => status === 'failed');
  return [
    ...failed.slice(0, mostFailures).flatMap((step) => oneFailure(step, recap, style)),
    ...(failed.length > mostFailures ? [`and ${failed.length - mostFailures} more failed`] : []),
  ];
}

function oneFailure(step: StepSummary, recap: Recap, style: RecapStyle): readonly string[] {
  const { colors, glyphs } = style;
  const child = recap.children?.get(step.name);
  const inner = child === undefined ? [] : failureLines(child, { ...style, columns: style.columns - 2 });
  // Its own output is only that run's result, for programs.
  if (inner.length > 0)
    return [...packLines(factsOf(step, recap, style), 3, style.columns), ...inner.map((line) => `  ${line}`)];
  const tail = (recap.tails.get(step.name) ?? []).slice(-tailLines);
  return [
    ...packLines(factsOf(step, recap, style), 3, style.columns),
    ...tail.map((line) =>
      `  ${colors.dim(glyphs.bar)} ${cut(stripControls(line), widestTail, glyphs.ellipsis)}`.trimEnd(),
    ),
    ...(recap.kept ? logsLines(step, recap, style) : []),
  ];
}

function factsOf(step: StepSummary, recap: Recap, { colors, glyphs, cwd }: RecapStyle): readonly LinePart[] {
  const place = recap.places.get(step.name);
  const origin = recap.origins.get(step.name);
  const plain = (text: string): LinePart => ({ text, paint: (shown) => shown });
  const mark = `${glyphs.status.failed} `;
  return [
    {
      text: mark + nameText(step.name, glyphs.ellipsis),
      paint: (text) => `${colors.red(mark.trim())} ${colors.bold(text.slice(mark.length))}`,
    },
    plain(escapeControls(step.error ?? 'failed')),
    ...(step.attempts > 1 ? [plain(`after ${step.attempts} attempts`)] : []),
    ...(origin === undefined ? [] : [plain(`in run ${escapeControls(shortId(origin))}, not run again`)]),
    ...(place === undefined ? [] : [{ text: placeText(place, cwd), paint: colors.cyan }]),
  ];
}

function logsLines(step: StepSummary, recap: Recap, { commands, colors, cwd, columns }: RecapStyle): readonly string[] {
  const log = step.log === null ? [] : [`  log: ${fileText(step.log, cwd)}`];
  if (!commands.logs) return log.map((line) => colors.dim(line));
  const { options = '' } = commands;
  const runId = recap.origins.get(step.name) ?? recap.summary.runId;
  const all = `wf logs${options} ${shellQuote(shortId(runId))}`;
  const lines = commandLines('  logs:', logsCommand(runId, step.name, options), columns, all);
  return lines.map((line) => colors.dim(line));
}
