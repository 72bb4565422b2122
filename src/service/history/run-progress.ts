import { nodeAt } from '#core/graph.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { type RunState, stepState } from '#core/run/run-state.ts';
import { type AttemptRecord, addToAttempts, attemptHistory } from '#core/summary/attempt-history.ts';
import { summarizeStep } from '#core/summary/summarize.ts';
import { evolveIfFit } from './fold-run.ts';
import type { PastRun } from './past-run.ts';
import { counting, MAX_ATTEMPTS, stepViewJson } from './run-view-json.ts';

/** The state of a followed run after each event, and the steps that changed. */
export type FollowedProgress = {
  /** The number of the last event that was added. */
  readonly position: () => number;
  /** Adds one event and returns its change of a step, if any. */
  readonly add: (event: StoredEvent) => StepChange | null;
  readonly state: () => RunState;
  /** A step or handler as `GET /runs/{id}/view` shows it. `only`: the names of the instances to include; default: all. */
  readonly stepView: (step: string, only?: ReadonlySet<string>) => object;
  readonly warnings: () => readonly string[];
};

/** A changed step; `instance`: the changed instance of a fan-out, null for the step itself. */
export type StepChange = { readonly step: string; readonly instance: string | null };

/** Creates the progress of a run, beginning with the events already read. */
export function followProgress({ state: read, stored, damage }: PastRun): FollowedProgress {
  const attempts: Map<string, AttemptRecord[]> = attemptHistory(stored?.events ?? []);
  let state = read;
  let position = stored?.events.at(-1)?.seq ?? 0;
  const logPath = (step: string, attempt: number) => stored?.logs.file(step, attempt, 'stdout').path ?? null;
  return {
    position: () => position,
    state: () => state,
    add: (event) => {
      position = event.seq;
      const next = evolveIfFit(state, event);
      if (next === null) return null;
      state = next;
      addToAttempts(attempts, event);
      return changeOf(event, state);
    },
    stepView: (name, only) => {
      const step = stepState(state, name);
      return stepViewJson(counting(summarizeStep(state, step, logPath, only), state.strict), step, (of) =>
        (attempts.get(of) ?? []).slice(-MAX_ATTEMPTS),
      );
    },
    warnings: () => [
      ...state.warnings.map(({ step, message }) => (step === null ? message : `${step}: ${message}`)),
      ...damage,
    ],
  };
}

/** Returns the step whose view an event changes; null if it changes none, or a step that the run does not have. */
export function changeOf(event: StoredEvent, { graph }: Pick<RunState, 'graph'>): StepChange | null {
  if (!('step' in event) || event.type === 'run.warned' || event.step === null) return null;
  const index = graph.index.get(event.step);
  if (index === undefined) return null;
  const { instanceOf } = nodeAt(graph, index);
  return instanceOf === undefined ? { step: event.step, instance: null } : { step: instanceOf, instance: event.step };
}
