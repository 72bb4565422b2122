import { stepState } from '#core/run/run-state.ts';
import { originOf } from '#core/summary/summary.ts';
import type { PastRun } from '../past-run.ts';

/** Explains why a run or a step has no output. */
export function whyNothing({ state, runId }: Pick<PastRun, 'state' | 'runId'>, step: string | null): string {
  if (step === null) return `no step of run ${runId} has been started`;
  const origin = originOf(state, stepState(state, step));
  if (origin !== null) return `step "${step}" was kept from run ${origin}: its output is there`;
  return `step "${step}" has not been started`;
}
