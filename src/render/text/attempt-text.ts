import type { Step } from '../../core/workflow.ts';

/** Returns `attempt 2 of 3`, or `repetition 7` for a repeating step; empty for a first attempt. */
export function attemptText(step: Step | undefined, attempt: number): string {
  if (attempt <= 1) return '';
  if (step?.repeat) return `repetition ${attempt}`;
  const most = (step?.retry.limit ?? 0) + 1;
  return attempt > most ? `attempt ${attempt}` : `attempt ${attempt} of ${most}`;
}
