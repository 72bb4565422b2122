import { formatDuration } from '#render/text.ts';
import type { StepView } from './api/types.ts';
import { countedName, progressText } from './fan-out/instance.ts';
import { presentLook } from './status.tsx';

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
