import type { Step } from '../../core/workflow.ts';

/** `attempt 2 of 3`, or `repetition 7` of a step that repeats; empty for a first attempt, about which nothing is special. */
export function attemptText(step: Step | undefined, attempt: number): string {
  if (attempt <= 1) return '';
  if (step?.repeat) return `repetition ${attempt}`;
  const most = (step?.retry.limit ?? 0) + 1;
  return attempt > most ? `attempt ${attempt}` : `attempt ${attempt} of ${most}`;
}
