import type { StepStatus } from '../../../core/run/run.ts';

const statuses: Readonly<Record<string, StepStatus>> = {
  S: 'succeeded',
  F: 'failed',
  K: 'skipped',
  C: 'canceled',
  U: 'upstream_failed',
  R: 'running',
  W: 'waiting',
  Q: 'scheduled',
  P: 'pending',
};

/** The status that a letter of a grid stands for; null: the run has no such step. */
export function cellStatus(cells: string, step: number): StepStatus | null {
  return statuses[cells[step] ?? '-'] ?? null;
}

/** The middle of the numbers, between the two in the middle where they are even; null without any. */
export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
