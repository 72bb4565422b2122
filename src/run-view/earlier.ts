import { formatDuration } from '#render/text.ts';
import type { StepView } from './api/types.ts';
import { isEnd, stepLook } from './status.tsx';

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
