import { buildGraph, leftOut, type StepSelection } from '#core/graph.ts';
import { expandText, splitBackticks } from '#core/words/interpolate.ts';
import { PathProblem, resultKey } from '#core/words/json-path.ts';
import { resultNames } from '#core/words/step-results.ts';
import { allSteps, type Precondition, type Workflow } from '#core/workflow.ts';
import { firstUnmet } from '#environment/precondition.ts';

type Scope = (name: string) => string | undefined;

/**
 * Returns the reason for each step that would be skipped: the selection, its own precondition, or a skipped dependency. A step
 * that is left out skips its dependents only for those before it. Only conditions
 * that need no command and only known values are considered.
 */
export async function plannedSkips(
  workflow: Workflow,
  waves: readonly (readonly string[])[],
  { scopeOf, selection }: { scopeOf: (step: string) => Scope; selection: StepSelection | undefined },
): Promise<ReadonlyMap<string, string>> {
  const steps = new Map(workflow.steps.map((step) => [step.name, step]));
  const skips = new Map<string, string>();
  const out = leftOut(buildGraph(workflow), selection);
  const causes = new Map<string, string>();
  for (const step of waves.flat().flatMap((name) => steps.get(name) ?? [])) {
    const own = out.has(step.name) ? null : await plannedSkip(workflow, step.preconditions, scopeOf(step.name));
    const before = step.depends.find((name) => causes.has(name) && steps.get(name)?.continueOn.skipped === false);
    const why = before === undefined ? own : `"${before}" is skipped`;
    if (why !== null) causes.set(step.name, why);
    const shown = out.has(step.name) ? 'left out' : why;
    if (shown !== null) skips.set(step.name, shown);
  }
  return skips;
}

/** Returns the unmet precondition; null: all are met, or that is not known before a run. */
export function plannedSkip(
  workflow: Workflow,
  preconditions: readonly Precondition[],
  scope: Scope,
): Promise<string | null> {
  const decidable = preconditions.filter((precondition) => isDecidable(workflow, precondition, scope));
  const capture = () => Promise.reject(new Error('A plan runs no command.'));
  return firstUnmet(decidable, { what: 'precondition', scope, capture });
}

function isDecidable(workflow: Workflow, { condition, expected }: Precondition, scope: Scope): boolean {
  if (expected === null || splitBackticks(condition).some((part) => !('text' in part))) return false;
  const steps = allSteps(workflow);
  const set = new Set([...steps.map(({ output }) => output), ...steps.flatMap(resultNames).map(resultKey)]);
  let isKnown = true;
  const watched = (name: string) => {
    const value = scope(name);
    // The first is set during a run; the last contains a command, which a plan does not run.
    if (/^(WF|DAG)_/.test(name) || set.has(name) || value?.includes('`')) isKnown = false;
    return value;
  };
  try {
    expandText(condition, watched);
    expandText(expected, watched);
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    return false;
  }
  return isKnown;
}
