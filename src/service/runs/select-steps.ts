import { buildGraph, isStep, leftOut, type StepSelection } from '#core/graph.ts';
import type { Workflow } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';
import { noSuchStep } from '../history/run-reference.ts';

/** The words of `--only` and `--skip`: names of steps, several with commas between them. */
type SelectionWords = Record<'only' | 'skip', readonly string[] | undefined>;

/**
 * Returns the selection that words mean, and a line about each step that runs without a dependency, since that is left
 * out. Throws a `WfError`: `not-found` for a step, `usage` if no step is left to run.
 */
export function selectSteps(
  workflow: Workflow,
  { only, skip }: SelectionWords,
): { readonly selection: StepSelection; readonly lines: readonly string[] } {
  const selection = {
    ...(only === undefined ? {} : { only: stepsNamed(workflow, only) }),
    ...(skip === undefined ? {} : { skip: stepsNamed(workflow, skip) }),
  };
  const graph = buildGraph(workflow);
  const out = leftOut(graph, selection);
  if (out.size < graph.stepCount) return { selection, lines: stepsWithout(workflow, out) };
  const help = `its steps: ${workflow.steps.map(({ name }) => name).join(', ')}`;
  throw new WfError('usage', 'no step is left to run', { help });
}

function stepsWithout(workflow: Workflow, out: ReadonlySet<string>): readonly string[] {
  return workflow.steps.flatMap(({ name, depends }) => {
    const missing = out.has(name) ? [] : depends.filter((each) => out.has(each));
    return missing.length === 0 ? [] : [`"${name}" runs without ${missing.map((each) => `"${each}"`).join(', ')}`];
  });
}

/** A name may contain a comma itself. */
function stepsNamed(workflow: Workflow, words: readonly string[]): readonly string[] {
  const graph = buildGraph(workflow);
  const byId = (word: string) => workflow.steps.find(({ id }) => id === word)?.name;
  const find = (word: string) => (isStep(graph, word) ? word : byId(word));
  const names = words.flatMap((word) => {
    const whole = find(word);
    return whole === undefined ? word.split(',').map((part) => part.trim()) : [whole];
  });
  return [...new Set(names)].map((name) => {
    const step = find(name);
    if (step === undefined) throw noSuchStep(name, graph);
    return step;
  });
}
