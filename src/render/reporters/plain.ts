import type { ChalkInstance } from 'chalk';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { staleSummary } from '#core/fingerprint.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { SettledStatus, StoredEvent } from '#core/run/run.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import { answerText, attemptText, blockedText, settlesLeftOut, stepTitle, upToDateText } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { neededInputs, suggestApprove } from '../text/suggested-commands.ts';
import { colorStep, createColors, paintStatus } from '../text/terminal-style.ts';
import { formatDuration, formatInterval, timeOfDay } from '../text/value-text.ts';
import { nameText, padEnd, textWidth } from '../text/width.ts';
import { headerLine, type RecapOptions, renderRecap } from '../views/recap.ts';
import { createBatch } from './batched.ts';
import type { Reporter, Terminal } from './reporter.ts';
import { createShownLines, type NodesByName, nodesByName, type OutputLine } from './step-lines.ts';

/** A time that is further back than this comes from a clock that was set, or that of another machine. */
const SET_CLOCK_MS = 60_000;

/** The options of the plain reporter. */
export type PlainOptions = RecapOptions & {
  /** Milliseconds since 1970-01-01 UTC: the time of a line of output that does not have its own. */
  readonly now: () => number;
  /** Calls back after the current work, like `setImmediate`. */
  readonly defer: (callback: () => void) => void;
};

/**
 * Prints a line for every event and every line of output, each with its time and step, so that every line can be searched:
 * `10:31:14 [load]   FAIL   exit 3 after 12.1s (attempt 2 of 2)`.
 */
export function createPlainReporter(terminal: Terminal, options: PlainOptions): Reporter {
  const batch = createBatch(terminal.write, options.defer);
  const colors = createColors(terminal.color);
  const lines = createShownLines(terminal.stripsColors !== true);
  const timeColumn = createTimeColumn(colors);
  const startedAt = new Map<string, number>();
  let isStrict = false;
  const bar = colors.dim('|');
  let workflow: Workflow | null = null;
  let run = '';
  let steps: NodesByName = new Map<string, Step>();
  let prefix = (name: string) => `[${name}]`;

  let last = 0;
  /** Output is read a little later than it was written: a line that is late has the time of the line before. */
  const put = (at: number, step: string | null, text: string) => {
    if (at > last || last - at > SET_CLOCK_MS) last = at;
    batch.add(`${timeColumn(last)} ${step === null ? '' : `${prefix(step)} `}${text}`);
  };
  const putLines = (found: readonly OutputLine[]) => {
    for (const { at, step, text } of found) put(at ?? options.now(), step, text === '' ? bar : `${bar} ${text}`);
  };
  /** The name of a step of a child run includes its parent steps. */
  const show = (event: StoredEvent, step: string | null, { of, runId }: { of: Step | undefined; runId: string }) => {
    if (endsAttempt(event)) putLines(lines.end(step));
    if (event.type === 'step.started' || event.type === 'step.expanded') startedAt.set(step ?? '', event.at);
    if (event.type === 'run.created') isStrict = event.strict === true;
    const own = { runId, options: options.commands.options, startedAt: startedAt.get(step ?? '') };
    const text = plainEvent(event, { ...own, step: of, isStrict, colors });
    if (text !== null) put(event.at, step, text);
    if (endsAttempt(event)) startedAt.delete(step ?? '');
  };

  return {
    wantsOutput: true,
    begin: (begun, runId) => {
      workflow = begun;
      run = runId;
      steps = nodesByName(begun);
      prefix = createPrefix(begun, colors);
    },
    event: (event) => {
      if (event.type === 'run.created' && workflow) batch.add(headerLine(workflow, event, terminal));
      const step = stepOf(event);
      show(event, step, { of: steps.get(step ?? ''), runId: run });
    },
    output: (chunk) => putLines(lines.push(chunk)),
    child: ({ path, workflow: own, runId }) => {
      const nodes = nodesByName(own);
      const nameOf = (step: string) => [...path, step].join(' > ');
      return {
        event: (event) => {
          const step = stepOf(event);
          if (step !== null) show(event, nameOf(step), { of: nodes.get(step), runId });
        },
        output: (chunk) => putLines(lines.push({ ...chunk, step: nameOf(chunk.step) })),
      };
    },
    end: (recap) => {
      putLines(lines.end(null));
      batch.flush();
      terminal.write(renderRecap(recap, terminal, options));
    },
  };
}

function stepOf(event: StoredEvent): string | null {
  return 'step' in event ? event.step : null;
}

/** Returns the time of day, formatted only when the second changes. */
function createTimeColumn(colors: ChalkInstance): (at: number) => string {
  let second = Number.NaN;
  let text = '';
  return (at) => {
    const now = Math.floor(at / 1000);
    if (now !== second) {
      second = now;
      text = colors.dim(timeOfDay(at));
    }
    return text;
  };
}

/** Longer names are not cut, so that they can be searched; they only move their own lines to the right. */
const WIDEST_PREFIX = 26;

/** Formats `[load]  `, padded to the longest step up to a limit, in the colour of the step. */
export function createPrefix(
  workflow: { readonly steps: readonly { readonly name: string }[] },
  colors: ChalkInstance,
): (name: string) => string {
  const names = workflow.steps.map((step) => `[${nameText(step.name)}]`);
  const widest = names.reduce((cells, name) => Math.max(cells, textWidth(name)), 0);
  const width = Math.min(WIDEST_PREFIX, widest);
  const indexes = new Map(workflow.steps.map((step, index) => [step.name, index]));
  const prefixes = new Map<string, string>();
  const prefixOf = (name: string) => {
    const index = indexes.get(name) ?? indexes.get(splitInstanceName(name)?.step ?? '');
    const text = padEnd(`[${nameText(name)}]`, width);
    return index === undefined ? text : colorStep(colors, index, text);
  };
  return (name) => {
    const prefix = prefixes.get(name) ?? prefixOf(name);
    if (indexes.has(name)) prefixes.set(name, prefix);
    return prefix;
  };
}

/** The run and the step of an event. */
type PlainContext = {
  readonly runId: string;
  /** The options by which a command reaches the run. */
  readonly options: string | undefined;
  readonly step: Step | undefined;
  /** The start of its current attempt; undefined before it. */
  readonly startedAt: number | undefined;
  readonly isStrict: boolean;
  readonly colors: ChalkInstance;
};

/** Formats an event, with a searchable keyword first; null for events that are not shown. */
export function plainEvent(event: StoredEvent, context: PlainContext): string | null {
  const { colors, step, startedAt } = context;
  switch (event.type) {
    case 'step.outdated':
      return `${word('RUN', colors.blue)} ${escapeControls(staleSummary(event))}`;
    case 'step.started': {
      const what = joined(step ? stepTitle(step, event.childWorkflow) : '', bracketed(step, event.attempt));
      const where = event.worker === undefined ? '' : `on ${escapeControls(event.worker)}`;
      return `${word('START', colors.blue)} ${joined(what, where)}`.trimEnd();
    }
    case 'step.serving':
      return `${word('READY', colors.green)} ${startedAt === undefined ? '' : formatDuration(event.at - startedAt)}`.trimEnd();
    case 'step.ending':
      return word('END', colors.blue).trimEnd();
    case 'step.restored':
      // The fan-out says that it was kept.
      if (step !== undefined && step.name !== event.step) return null;
      return settlesLeftOut(event)
        ? `${word('SKIP', colors.yellow)} left out`
        : `${word('KEPT', colors.dim)} ${keptText(event)}`;
    case 'step.expanded':
      return `${word('ITEMS', colors.blue)} ${event.items.length}${event.attempt === 0 ? ' of the earlier run' : ''}`;
    case 'step.canceling':
      return `${word('STOP', colors.yellow)} ${escapeControls(event.message)}`;
    case 'run.blocked':
    case 'step.blocked':
      return `${word('WAIT', colors.yellow)} ${blockedText(event)}`;
    case 'run.late':
      return `${word('LATE', colors.yellow)} the run`;
    case 'step.late':
      return word('LATE', colors.yellow).trimEnd();
    case 'step.waiting':
      return event.why === 'retry' ? retryText(event, context) : repeatText(event, context);
    case 'step.held':
      return `${word('WAIT', colors.yellow)} ${joined(escapeControls(event.prompt), `(${approveCommand(event.step, context)})`)}`;
    case 'step.answered':
      return `${word('ANSWER', colors.blue)} ${answerText(event)}`;
    case 'step.finished':
      return finishedText(event, context);
    case 'run.canceling':
      return `${word('STOP', colors.yellow)} ${event.message === '' ? event.reason : escapeControls(event.message)}`;
    case 'run.warned':
      return `${word('WARN', colors.yellow)} ${escapeControls(event.message)}`;
    case 'step.marked':
      return `${word('MARK', colors.yellow)} ${event.status} by ${escapeControls(event.by)}`;
    case 'run.created':
    case 'run.queued':
    case 'run.owned':
    case 'run.prepared':
    case 'run.started':
    case 'run.delayed':
    case 'run.handling':
    case 'run.finished':
    case 'step.scheduled':
    case 'step.acquired':
    case 'step.contained':
    case 'step.ready':
    case 'artifact.kept':
      return null;
  }
}

function approveCommand(name: string, { step, runId, options = '' }: PlainContext): string {
  const inputs = step?.approval?.inputs.map(({ rule, ...input }) => ({ ...input, ...rule }));
  return suggestApprove(runId, name, `${options}${neededInputs(inputs)}`);
}

function keptText({ status, before }: Extract<StoredEvent, { type: 'step.restored' }>): string {
  return joined(`${status.replace('_', ' ')} before`, escapeControls(before?.message ?? ''), ': ');
}

function retryText(
  event: Extract<StoredEvent, { type: 'step.waiting' }>,
  { step, startedAt, colors }: PlainContext,
): string {
  const why = event.outcome.status === 'succeeded' ? '' : escapeControls(event.outcome.message);
  const next = `${inTime(event)} ${bracketed(step, event.attempt + 1)}`.trimEnd();
  return `${word('RETRY', colors.yellow)} ${joined(next, afterTime(why, event.at, startedAt), ': ')}`;
}

function repeatText(event: Extract<StoredEvent, { type: 'step.waiting' }>, { step, colors }: PlainContext): string {
  return `${word('REPEAT', colors.blue)} ${inTime(event)} ${bracketed(step, event.attempt + 1)}`.trimEnd();
}

function inTime(event: { readonly at: number; readonly until: number }): string {
  return event.until > event.at ? `in ${formatInterval(event.until - event.at)}` : 'now';
}

function finishedText(
  event: Extract<StoredEvent, { type: 'step.finished' }>,
  { step, startedAt, isStrict, colors }: PlainContext,
): string {
  const { status, at, attempt } = event;
  if (event.cached) return `${colors.green('UP TO DATE')} ${upToDateText(event)}`;
  const message = escapeControls(event.message);
  const said =
    status === 'succeeded' && startedAt !== undefined
      ? formatDuration(at - startedAt)
      : afterTime(message, at, startedAt);
  const isTolerated = status === 'failed' && event.tolerated !== undefined && !isStrict;
  return `${paintStatus(status, colors, settledWords[status].padEnd(6))} ${joined(said, bracketed(step, attempt))}${isTolerated ? ', tolerated' : ''}`.trimEnd();
}

const settledWords: { readonly [status in SettledStatus]: string } = {
  succeeded: 'OK',
  failed: 'FAIL',
  skipped: 'SKIP',
  canceled: 'CANCEL',
  upstream_failed: 'NOTRUN',
};

/** Keywords are padded to one width, so that the rest forms a column. */
function word(text: string, color: (text: string) => string): string {
  return color(text.padEnd(6));
}

function afterTime(message: string, at: number, startedAt: number | undefined): string {
  // The message of a time limit contains the duration.
  if (startedAt === undefined || message.startsWith('timed out')) return message;
  return joined(message, `after ${formatDuration(at - startedAt)}`);
}

function bracketed(step: Step | undefined, attempt: number): string {
  const text = attemptText(step, attempt);
  return text === '' ? '' : `(${text})`;
}

function joined(first: string, second: string, separator = ' '): string {
  return first !== '' && second !== '' ? `${first}${separator}${second}` : first || second;
}
