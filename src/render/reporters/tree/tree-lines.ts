import type { ChalkInstance } from 'chalk';
import type { StoredEvent } from '#core/run/run.ts';
import type { StepState } from '#core/run/run-state.ts';
import type { Step } from '#core/workflow.ts';
import {
  type Answered,
  answerText,
  attemptState,
  attemptText,
  settlesLeftOut,
  upToDateText,
} from '../../text/run-text.ts';
import { escapeControls } from '../../text/sanitize.ts';
import { type Glyphs, paintStatus } from '../../text/terminal-style.ts';
import { formatDuration, formatElapsed } from '../../text/value-text.ts';
import { cut, nameText, padEnd, textWidth } from '../../text/width.ts';
import type { NodesByName } from '../step-lines.ts';
import type { TreeView, WaitingStep } from './tree-view.ts';

/** The style of lines of the tree, and their steps. */
export type TreeStyle = {
  readonly colors: ChalkInstance;
  readonly glyphs: Glyphs;
  readonly steps: NodesByName;
  /** Tolerated failures fail the run all the same. */
  readonly isStrict: boolean;
};

/** Adds to a line how many instances of a fan-out have ended. */
export function withCount(line: TreeLine, { done, total }: Pick<TreeView, 'done' | 'total'>): TreeLine {
  return { ...line, detail: joined(`${done}/${total}`, line.detail) };
}

/** What a tree knows of a settled step before its end. */
type BeforeEnd = {
  readonly startedAt: number | null;
  /** The answer to its approval; null or absent if it asked for none, or was not answered. */
  readonly answer?: Answered | null | undefined;
  /** Why a step with `sources` ran; null or absent without them. */
  readonly reason?: string | null | undefined;
};

/** Renders the line of a settled step. */
export function finishedLine(
  event: Extract<StoredEvent, { type: 'step.finished' | 'step.restored' }>,
  { startedAt, answer, reason = null }: BeforeEnd,
  style: TreeStyle,
): TreeLine {
  const { colors, glyphs, steps } = style;
  const isTolerated = event.status === 'failed' && event.tolerated !== undefined && !style.isStrict;
  const approved = answer?.answer === 'approved' ? answerText(answer) : '';
  return {
    glyph: isTolerated ? glyphs.tolerated : isUpToDate(event) ? glyphs.upToDate : glyphs.status[event.status],
    name: nameText(event.step),
    time: startedAt === null ? '' : formatDuration(event.at - startedAt),
    detail:
      event.type === 'step.restored'
        ? keptDetail(event)
        : finishedDetail(event, steps.get(event.step), { isTolerated, approved, reason }),
    paintGlyph: isTolerated ? colors.yellow : (text) => paintStatus(event.status, colors, text),
    paintDetail: event.status === 'failed' && !isTolerated ? colors.red : colors.dim,
  };
}

function isUpToDate(event: Extract<StoredEvent, { type: 'step.finished' | 'step.restored' }>): boolean {
  return event.type === 'step.finished' && event.cached === true;
}

function keptDetail(event: Extract<StoredEvent, { type: 'step.restored' }>): string {
  const { status, before } = event;
  if (settlesLeftOut(event)) return 'left out';
  const message = status === 'failed' ? escapeControls(before?.message ?? '') : '';
  return joined(message, 'kept from before');
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('  ');
}

function finishedDetail(
  event: Extract<StoredEvent, { type: 'step.finished' }>,
  step: Step | undefined,
  { isTolerated, approved, reason }: { isTolerated: boolean; approved: string; reason: string | null },
): string {
  const attempt = attemptText(step, event.attempt);
  const message = escapeControls(event.message);
  switch (event.status) {
    case 'succeeded':
      if (event.cached) return `UP TO DATE  ${upToDateText(event)}`;
      return joined(attempt, approved, reason === null ? '' : `RUN  ${escapeControls(reason)}`);
    case 'failed':
      return joined(message, isTolerated ? 'tolerated' : '', attempt, approved);
    case 'skipped':
      return labelled('skipped', message);
    case 'canceled':
      return labelled('canceled', message);
    case 'upstream_failed':
      return labelled('not run', message);
  }
}

function labelled(word: string, message: string): string {
  return message === '' || message === word ? word : `${word}: ${message}`;
}

type RunningStep = Pick<StepState, 'name' | 'attempt' | 'startedAt' | 'isReady' | 'container'>;

/** Renders a running step. `note`: what follows its attempt. */
export function activeLine(
  step: RunningStep,
  { now, glyph, note }: { readonly now: number; readonly glyph: string; readonly note: string },
  { colors, steps }: TreeStyle,
): TreeLine {
  return {
    glyph,
    name: nameText(step.name),
    time: step.startedAt === null ? '' : formatElapsed(now - step.startedAt),
    detail: joined(attemptText(steps.get(step.name), step.attempt), ...attemptState(step), note),
    paintGlyph: colors.cyan,
    paintDetail: colors.dim,
  };
}

/** Renders what a run waits for before it starts. */
export function blockedLine(message: string, { colors, glyphs }: TreeStyle): TreeLine {
  const glyph = glyphs.status.waiting;
  return { glyph, name: '', time: '', detail: `waits ${message}`, paintGlyph: colors.yellow, paintDetail: colors.dim };
}

/** Renders a step between two attempts. */
export function waitingLine(step: WaitingStep, now: number, { colors, glyphs, steps }: TreeStyle): TreeLine {
  const isBlocked = step.why === 'lock' || step.why === 'queue';
  const attempt = step.why === 'approval' ? '' : attemptText(steps.get(step.name), step.attempt);
  const next = isBlocked
    ? `waits ${step.message}`
    : step.why === 'approval'
      ? `waits for approval${step.until === null ? '' : `, ${formatElapsed(step.until - now)} left`}`
      : step.until !== null && step.until > now
        ? `again in ${formatElapsed(step.until - now + 999)}`
        : 'again as soon as a slot is free';
  const what = attempt === '' ? next : `${next}, ${attempt}`;
  return {
    glyph: glyphs.status.waiting,
    name: nameText(step.name),
    time: '',
    detail: step.message === '' || isBlocked ? what : `${what}: ${escapeControls(step.message)}`,
    paintGlyph: colors.yellow,
    paintDetail: colors.dim,
  };
}

/** Renders a pending step and its unfinished dependencies. */
export function pendingLine(
  name: string,
  view: Pick<TreeView, 'settled'>,
  { colors, glyphs, steps }: TreeStyle,
): TreeLine {
  const unmet = (steps.get(name)?.depends ?? []).filter((dependency) => !view.settled.has(dependency));
  return {
    glyph: glyphs.status.pending,
    name: nameText(name),
    time: '',
    detail: unmet.length === 0 ? 'waits for its turn' : `waits for ${unmet.map((name) => nameText(name)).join(', ')}`,
    paintGlyph: colors.dim,
    paintDetail: colors.dim,
  };
}

/** One line of the tree. Its texts contain no control characters; the `paint…` functions add colours. */
export type TreeLine = {
  readonly glyph: string;
  readonly name: string;
  readonly time: string;
  readonly detail: string;
  readonly paintGlyph: (text: string) => string;
  readonly paintDetail: (text: string) => string;
};

/** The available space. */
export type TreeRoom = {
  /** The width of the terminal in cells; `Infinity`: nothing is cut. */
  readonly columns: number;
  readonly names: number;
  readonly ellipsis: string;
  /** The depth of the line: 0 for a step of the run itself, 1 for a step of its child run. */
  readonly depth?: number;
  /** The width for the line, if that is less. */
  readonly width?: number;
};

const INDENT_PER_LEVEL = 2;
const TIME_WIDTH = 6;
const WIDEST_NAME = 32;
const NARROWEST_DETAIL = 8;

/**
 * `  ✔ extract            1.2s  attempt 2 of 3`, always narrower than the terminal. In a narrow terminal the detail is
 * left out first, then the time, then the end of the name.
 */
export function treeLine(line: TreeLine, { columns, names, ellipsis, depth = 0, width = columns }: TreeRoom): string {
  const indent = INDENT_PER_LEVEL * (depth + 1);
  const head = indent + textWidth(line.glyph) + 1;
  const whole = columns - 1 - head;
  const room = width - 1 - head;
  const start = `${' '.repeat(indent)}${line.paintGlyph(line.glyph)} `;
  const most = Math.max(8, Math.min(Math.floor(whole / 2), room - 1 - TIME_WIDTH));
  const widest = Number.isFinite(columns) ? WIDEST_NAME : most;
  const nameWidth = Math.min(Math.max(names, textWidth(line.name)), widest, most);
  if (room < 1) return cut(`${line.glyph}${line.name}`, Math.max(0, room + head), ellipsis);
  if (nameWidth + 1 + TIME_WIDTH > room) return start + cut(line.name, room, ellipsis);
  const name = padEnd(cut(line.name, nameWidth, ellipsis), nameWidth);
  const left = room - nameWidth - 1 - TIME_WIDTH - 2;
  const detail =
    left < NARROWEST_DETAIL || line.detail === '' ? '' : `  ${line.paintDetail(cut(line.detail, left, ellipsis))}`;
  return `${start}${name} ${line.time.padStart(TIME_WIDTH)}${detail}`.trimEnd();
}
