import type { RunState, StepState } from '../run/run-state.ts';
import { isLeftOut, steps } from '../run/run-state.ts';

/** The run that made the attempts of a restored step, and therefore has its logs; null for a step of the run itself. */
export function originOf(run: RunState, step: StepState): string | null {
  return step.origin ?? (step.restored && !isLeftOut(run, step) ? run.retryOf : null);
}

/** The origins of all restored steps, by step name. */
export function originsOf(run: RunState): ReadonlyMap<string, string> {
  return new Map(
    [...steps(run)].flatMap((step) => {
      const origin = originOf(run, step);
      return origin === null ? [] : [[step.name, origin] as const];
    }),
  );
}
