import type { ChalkInstance } from 'chalk';
import type { SettledStatus, StoredEvent } from '#core/run/run.ts';
import type { ApprovalInput, Step } from '#core/workflow.ts';
import { answerText, attemptText, settlesLeftOut, stepTitle } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { neededInputs } from '../text/suggested-commands.ts';
import { paintStatus } from '../text/terminal-style.ts';
import { formatDuration, formatInterval } from '../text/value-text.ts';

/** The step of an event. */
export type PlainContext = {
  readonly step: Step | undefined;
  /** The start of its current attempt; undefined before it. */
  readonly startedAt: number | undefined;
  readonly isStrict: boolean;
  readonly colors: ChalkInstance;
  /** The command that approves a step of the run; `inputs`: the options for its required inputs. */
  readonly approve: (step: string, inputs: string) => string;
};

/** Formats an event, with a searchable keyword first; null for events that are not shown. */
export function plainEvent(event: StoredEvent, context: PlainContext): string | null {
  const { colors, step, startedAt } = context;
  switch (event.type) {
    case 'step.started':
      return `${word('START', colors.blue)} ${joined(step ? stepTitle(step, event.childWorkflow) : '', bracketed(step, event.attempt))}`.trimEnd();
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
    case 'step.waiting':
      return event.why === 'retry' ? retryText(event, context) : repeatText(event, context);
    case 'step.held':
      return `${word('WAIT', colors.yellow)} ${joined(escapeControls(event.prompt), `(${context.approve(event.step, neededInputs(step?.approval?.inputs.map(declaredInput)))})`)}`;
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
    case 'step.contained':
    case 'step.ready':
      return null;
  }
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

function declaredInput({ name, default: value, rule }: ApprovalInput) {
  return { name, default: value, ...rule };
}
