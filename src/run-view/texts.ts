/** The words for a run and its steps: names, statuses, counts, and what differs from an earlier run. */

import { formatDuration, shortId } from '#render/text.ts';
import type { RunHead, StepView } from './api/types.ts';
import { isEnd, presentLook, presentRunLook, type StatusKind, stepLook } from './status.tsx';

export { countsText, presentLook, presentRunLook, runLook, type StatusLook, stepLook } from './status.tsx';

/** Symbols of runs for titles, which styles cannot affect. */
const signs: { readonly [kind in StatusKind]?: string } = {
  succeeded: '\u2714',
  partly: '\u2714',
  failed: '\u2716',
  canceled: '\u25a0',
  running: '\u25b6',
  approval: '\u270b',
  pending: '\u25cb',
  skipped: '\u21b7',
};

/** The title of a document about a run: `✔ etl 01997c3e-1a2b`. */
export function runTitle(run: RunHead): string {
  return `${signs[presentRunLook(run).kind] ?? ''} ${run.workflow} ${shortId(run.runId)}`.trim();
}

/** Width of the control that expands a fan-out in a graph, in pixels. */
export const FOLD_ROOM = 28;

/** An instance of a fan-out. */
export type Instance = NonNullable<StepView['items']>[number];

/** The names of the expanded fan-outs of a run. */
export type Unfolding = { readonly names: ReadonlySet<string>; readonly toggle: (step: string) => void };

/** The name of a step; with the number of instances for a fan-out: `ship x5`. */
export function countedName({ name, items }: Pick<StepView, 'name' | 'items'>): string {
  return items === undefined ? name : `${name} x${items.length}`;
}

/** How many instances have finished: `3/5`. */
export function progressText(items: readonly Instance[]): string {
  return `${items.filter(({ status }) => isEnd(status)).length}/${items.length}`;
}

/** The item of an instance as text; null if it equals the key of the instance. */
export function itemText({ item, key }: Instance): string | null {
  const text = typeof item === 'object' ? JSON.stringify(item) : String(item);
  return text === key ? null : text;
}

/** The instance of a fan-out to show: the one with the key, else the first failed one, else a running one. */
export function shownInstance(items: readonly Instance[], key: string | undefined): Instance | undefined {
  const withStatus = (status: StepView['status']) => items.find((item) => item.status === status);
  return items.find((item) => item.key === key) ?? withStatus('failed') ?? withStatus('running') ?? items[0];
}

/** An instance as a step. A view has no attempt history for an instance with one attempt. */
export function instanceStep(instance: Instance): StepView {
  return { ...instance, maskedOutputs: [], kept: false, history: instance.history ?? wholeTime(instance) };
}

/** The time from the start to the end of a step as a single attempt; none if it has not started. */
export function wholeTime(step: Omit<Instance, 'key' | 'index' | 'item'>): StepView['history'] {
  const { startedAt, finishedAt, status, attempts, error, exitCode, signal } = step;
  if (startedAt === null) return [];
  const end = status === 'failed' || status === 'skipped' || status === 'canceled' ? status : ('succeeded' as const);
  const outcome = finishedAt === null ? null : end;
  const attempt = { attempt: Math.max(1, attempts), status: outcome, error, exitCode, signal };
  return [{ ...attempt, scheduledAt: startedAt, startedAt, finishedAt, next: null }];
}

/** A step as a row of a list, or an instance with the name of its fan-out. */
export type UnfoldedStep = { readonly step: StepView; readonly instance: Instance | null; readonly of: string | null };

/** Steps, each expanded fan-out followed by its instances. */
export function unfolded(steps: readonly StepView[], names: ReadonlySet<string>): readonly UnfoldedStep[] {
  return steps.flatMap((step) => [
    { step, instance: null, of: null },
    ...(names.has(step.name) ? instanceRows(step) : []),
  ]);
}

/** The instances of a fan-out as rows. */
export function instanceRows({ name, items = [] }: StepView): readonly UnfoldedStep[] {
  return items.map((instance) => ({ step: instanceStep(instance), instance, of: name }));
}

/** The width reserved for `stepDetail` in a box, whatever its later status: boxes never move. */
export const DETAIL_ROOM = 'failed · 99m59s · 9';

/** A short detail beside the name of a step: `1.2s · 2 attempts`. */
export function stepDetail(step: StepView): string {
  const { status, durationMs, attempts, exitCode, kept, items } = step;
  const isExit = status === 'failed' && exitCode !== null;
  const parts = [
    kept && 'kept',
    isExit ? `exit ${exitCode}` : durationMs === null && presentLook(step).word,
    durationMs !== null && formatDuration(durationMs),
    items && progressText(items),
    attempts > 1 && `×${attempts}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** The text of a step for screen readers: `report: failed, needs load, index`. */
export function stepTitle(step: StepView, needs: readonly string[]): string {
  const progress = step.items === undefined ? '' : `, ${progressText(step.items)}`;
  return `${countedName(step)}: ${presentLook(step).word}${progress}${needs.length === 0 ? '' : `, needs ${needs.join(', ')}`}`;
}

/** `2 attempts`, `3 repetitions`, `3 repetitions in 4 attempts`; empty for a single attempt. */
export function attemptsText({ attempts, repetitions }: Pick<StepView, 'attempts' | 'repetitions'>): string {
  if (attempts <= 1) return '';
  if (repetitions === undefined) return counted(attempts, 'attempt');
  const repeated = counted(repetitions, 'repetition');
  return repetitions === attempts ? repeated : `${repeated} in ${counted(attempts, 'attempt')}`;
}

/** `1 step`, `12 steps`. */
export function counted(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

/** Longer text is cut. */
export const MAX_TEXT = 2000;

/** Returns the start of a text that is too long to show, with a note. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${(text.length - most).toLocaleString('en')} more characters)`;
}

type EarlierStep = Pick<StepView, 'name' | 'status' | 'durationMs'>;

/** The last run of a workflow that had finished when another run began: its id and its steps by name. */
export type EarlierRun = { readonly runId: string; readonly steps: ReadonlyMap<string, EarlierStep> };

/** Smaller differences are not shown, in milliseconds and as a fraction of the earlier duration. */
const LEAST_MS = 100;
const LEAST_PART = 0.1;

/** Creates the earlier run for `earlierNote`. */
export function earlierRunOf(run: {
  readonly runId: string;
  readonly steps: readonly EarlierStep[];
  readonly handlers: readonly EarlierStep[];
}): EarlierRun {
  return { runId: run.runId, steps: new Map([...run.steps, ...run.handlers].map((step) => [step.name, step])) };
}

/** The difference of a finished step from an earlier run: `was succeeded`, `+1.2s`; empty if it is small. */
export function earlierNote(step: EarlierStep, earlier: EarlierRun | null): string {
  const before = earlier?.steps.get(step.name);
  if (before === undefined || !isEnd(step.status)) return '';
  if (before.status !== step.status) return `was ${stepLook(before.status).word}`;
  if (step.durationMs === null || before.durationMs === null) return '';
  const longerMs = step.durationMs - before.durationMs;
  if (Math.abs(longerMs) < Math.max(LEAST_MS, before.durationMs * LEAST_PART)) return '';
  return `${longerMs > 0 ? '+' : '−'}${formatDuration(Math.abs(longerMs))}`;
}
