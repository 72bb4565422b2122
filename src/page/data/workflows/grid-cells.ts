import type { StepStatus } from '#core/run/run.ts';

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

/** The status that a letter of a grid represents; null if the run does not have the step. */
export function cellStatus(cells: string, step: number): StepStatus | null {
  return statuses[cells[step] ?? '-'] ?? null;
}

/** The median of the numbers; null for an empty list. */
export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
