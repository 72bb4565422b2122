import type { AttemptRecord } from '../../../core/run/attempt-history.ts';
import type { StepSummary } from '../../../core/run/summary.ts';
import type { Step } from '../../../core/workflow.ts';
import type { Place } from '../../../language/diagnostic.ts';
import type { ReportView } from '../view.ts';

/** Everything that a report says of one step or handler. */
export type ReportStep = {
  /** The id of its part of the page. */
  readonly anchor: string;
  readonly summary: StepSummary;
  /** Null when the workflow is lost. */
  readonly node: Step | null;
  readonly attempts: readonly AttemptRecord[];
  readonly place: Place | null;
  /** Outputs whose values are hidden. */
  readonly masked: readonly string[];
  readonly isHandler: boolean;
  /** Its result was taken over from the run that was retried. */
  readonly isKept: boolean;
};

/** The steps in the order of the file, then the handlers in the order in which they ran. */
export function reportSteps({ summary, run, graph, attempts, places }: ReportView): readonly ReportStep[] {
  const nodes = new Map(graph?.nodes.map((node) => [node.name, node]));
  const states = new Map(run.nodes.chunks.flat().map((state) => [state.name, state]));
  return [...summary.steps, ...summary.handlers].map((step, index) => ({
    anchor: `s${index + 1}`,
    summary: step,
    node: nodes.get(step.name) ?? null,
    attempts: attempts.get(step.name) ?? [],
    place: places.get(step.name) ?? null,
    masked: states.get(step.name)?.masked ?? [],
    isHandler: index >= summary.steps.length,
    isKept: states.get(step.name)?.restored ?? false,
  }));
}
