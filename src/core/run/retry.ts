import { firstItems, given } from '../data/collections.ts';
import { fanOutOf } from '../fan-out/instances.ts';
import { closure, type Graph, leftOut, nodeAt, nodeIndex } from '../graph.ts';
import { originOf } from '../summary/summary.ts';
import type { Workflow } from '../workflow.ts';
import type { Item, Param, Restored, RestoredItems, RestoredStep, RunCreated } from './run.ts';
import { instancesOf, isSettled, type RunState, type StepState, stepState } from './run-state.ts';

/**
 * The scope of a retry: every step that did not succeed, with its dependents; all steps; one step alone; or a step and
 * everything after it. A step can be an instance of a fan-out.
 */
export type RetrySelection =
  | { readonly steps: 'unfinished' | 'all' }
  | { readonly only: string }
  | { readonly from: string };

/** Both lists are in the order of the file; a step that only asks for its approval again is in both. */
export type RetryPlan = {
  /** For the `start` of the new run. */
  readonly restored: readonly Restored[];
  /** The steps that will run. Empty: there is nothing to do. */
  readonly rerun: readonly string[];
  /** Variables that were secret outputs of restored steps, whose values were not stored. Absent if there are none. */
  readonly missing?: readonly string[];
};

/**
 * Plans a new run that keeps the results of a finished one. A step whose outputs contained secrets, which are not
 * stored, runs again for them, unless one step is to run alone. A fan-out that runs again runs the instances that did
 * not succeed, of the same items; all of them if all succeeded. If a step before it runs again too, its items are read
 * again. A step that the selection of the run left out stays out, unless this selection names it. `graph` is the graph of the workflow to run, if that is not the one that ran: steps are matched by name. Throws
 * if the selection names a step that the graph does not have.
 */
export function planRetry(run: RunState, selection: RetrySelection, graph: Graph = run.graph): RetryPlan {
  const instance = instanceNamed(run, selection);
  const chosen = ofFanOut(selection, run, instance);
  const out = stillLeftOut(run, chosen, graph);
  const rerun = new Set(withBackgroundSteps(selected(run, chosen, { graph, out }), graph));
  for (const index of out) rerun.delete(index);
  const steps = Array.from({ length: graph.stepCount }, (_, index) => index);
  const isForgetful = (index: number) => unkept(earlier(run, nodeAt(graph, index).name)).length > 0;
  const forgetful = steps.filter((index) => !rerun.has(index) && isForgetful(index));
  if (!('only' in selection) && rerun.size > 0)
    for (const index of withBackgroundSteps(forgetful, graph)) rerun.add(index);
  /** Whether a step runs again only after another one that does, services apart. */
  const follows = (index: number) =>
    (graph.dependencies[index] ?? []).some((other) => rerun.has(other) && !isBackgroundStep(graph, other));
  const isAsking = 'steps' in selection && selection.steps === 'unfinished';
  const asking = unanswered(run, graph, isAsking ? [...rerun].filter((index) => !follows(index)) : []);
  const restored: Restored[] = [];
  const names: string[] = [];
  for (const index of steps) {
    const { name, fanOut } = nodeAt(graph, index);
    const held = asking.get(name);
    const step = fanOut === undefined ? null : earlier(run, name);
    if (step !== null && !(rerun.has(index) && follows(index))) {
      restored.push(...keptItems(run, step, { isRerun: rerun.has(index), only: instance }));
    }
    if (rerun.has(index)) names.push(name);
    if (held !== undefined) restored.push({ ...takenOver(run, name), ...held });
    else if (out.has(index)) restored.push({ step: name, status: 'skipped', outputs: {} });
    else if (!rerun.has(index)) restored.push(takenOver(run, name));
  }
  const missing = restored.flatMap((one) => ('items' in one ? [] : unkept(earlier(run, one.step))));
  return { restored, rerun: names, ...given({ missing: missing.length > 0 ? missing : null }) };
}

/** The step that a selection names; null if it names none. */
function nameIn(selection: RetrySelection): string | null {
  if ('only' in selection) return selection.only;
  return 'from' in selection ? selection.from : null;
}

/** The instance that a selection names; null for any other selection. */
function instanceNamed(run: RunState, selection: RetrySelection): StepState | null {
  const name = nameIn(selection);
  const state = name === null ? null : earlier(run, name);
  return state?.item === undefined ? null : state;
}

/** The selection with the fan-out of the instance instead of the instance. */
function ofFanOut(selection: RetrySelection, run: RunState, instance: StepState | null): RetrySelection {
  const fanOut = instance === null ? null : fanOutOf(run, instance);
  if (fanOut === null) return selection;
  return 'only' in selection ? { only: fanOut.name } : { from: fanOut.name };
}

/**
 * The items of a fan-out and the instances that do not run again; nothing if its items are not known, or contain secrets,
 * which are not stored.
 */
function keptItems(
  run: RunState,
  step: StepState,
  { isRerun, only }: { readonly isRerun: boolean; readonly only: StepState | null },
): readonly RestoredItems[] {
  const instances = instancesOf(run, step);
  const items = instances.flatMap(({ item }): readonly Item[] => {
    return item === undefined ? [] : [{ key: item.key, value: item.value, ...given({ masked: item.masked }) }];
  });
  if (items.length === 0 || items.some(({ masked }) => masked)) return [];
  const isComplete = instances.every((instance) => isDone(instance) && unkept(instance).length === 0);
  const runs = (instance: StepState) => {
    if (!isRerun) return false;
    if (only !== null) return instance === only;
    return isComplete || !isDone(instance) || unkept(instance).length > 0;
  };
  const kept = instances.filter((instance) => !runs(instance)).map(({ name }) => takenOver(run, name));
  const { maxConcurrent } = step.instances ?? {};
  return [{ step: step.name, items, ...given({ maxConcurrent }), instances: kept }];
}

/** Returns the steps that the run left out and that have no result from a mark or an earlier run. */
function stillLeftOut(run: RunState, selection: RetrySelection, graph: Graph): ReadonlySet<number> {
  const named = nameIn(selection);
  const hasResult = (step: StepState | null) =>
    step !== null && (step.attempt > 0 || step.origin !== undefined || ['succeeded', 'failed'].includes(step.status));
  const names = [...leftOut(graph, run.selection)].filter((name) => name !== named && !hasResult(earlier(run, name)));
  return new Set(names.map((name) => nodeIndex(graph, name)));
}

type Scope = { readonly graph: Graph; readonly out: ReadonlySet<number> };

function selected(run: RunState, selection: RetrySelection, { graph, out }: Scope): ReadonlySet<number> {
  if ('only' in selection) return new Set([nodeIndex(graph, selection.only)]);
  if ('from' in selection) return closure([nodeIndex(graph, selection.from)], (index) => graph.dependents[index] ?? []);
  if (selection.steps === 'all') return new Set(graph.nodes.slice(0, graph.stepCount).keys());
  const needsRerun = (index: number) => !out.has(index) && !isDone(earlier(run, nodeAt(graph, index).name));
  const unfinished = Array.from({ length: graph.stepCount }, (_, index) => index).filter(needsRerun);
  return closure(unfinished, (index) => [
    // The results of steps that used a service stay, even if the service itself failed later.
    ...(isBackgroundStep(graph, index) ? [] : (graph.dependents[index] ?? [])),
    ...(graph.dependencies[index] ?? []).filter(
      (dependency) => !out.has(dependency) && holdsBack(run, graph, dependency),
    ),
  ]);
}

/** The steps, and the services that they need. */
function withBackgroundSteps(steps: Iterable<number>, graph: Graph): ReadonlySet<number> {
  return closure(steps, (index) =>
    (graph.dependencies[index] ?? []).filter((dependency) => isBackgroundStep(graph, dependency)),
  );
}

function isBackgroundStep(graph: Graph, index: number): boolean {
  return nodeAt(graph, index).service !== undefined;
}

/** An approval that is asked again. */
type Asking = Pick<RestoredStep, 'held' | 'limitMs'>;

/**
 * The approvals of those candidates that waited for a person when the run ended, by their names: they ask again, and their
 * commands do not run again. A step does run again for a secret output.
 */
function unanswered(run: RunState, graph: Graph, candidates: readonly number[]): ReadonlyMap<string, Asking> {
  const found = new Map<string, Asking>();
  for (const index of candidates) {
    const { name, approval, numbers = [] } = nodeAt(graph, index);
    const step = earlier(run, name);
    if (approval === undefined || step?.approval === undefined || unkept(step).length > 0) continue;
    const { answer, prompt, heldAt, until } = step.approval;
    const isVariable = numbers.some(({ key }) => key === 'approval.timeoutSec');
    const limit = isVariable ? { limitMs: until === null ? 0 : until - heldAt } : {};
    if (answer === null) found.set(name, { held: prompt, ...limit });
  }
  return found;
}

/** A skipped step runs again if a step that it holds back is to run: its precondition may be met by now. */
function holdsBack(run: RunState, graph: Graph, index: number): boolean {
  const { name, continueOn } = nodeAt(graph, index);
  return earlier(run, name)?.status === 'skipped' && !continueOn.skipped;
}

function isDone(step: StepState | null): boolean {
  return step?.status === 'succeeded' || step?.status === 'skipped';
}

/**
 * The step as it ended, so that a retry of the retry still sees what is left to do. A step that was never reached
 * counts as canceled.
 */
function takenOver(run: RunState, name: string): RestoredStep {
  const step = earlier(run, name);
  if (step === null || !isSettled(step)) return { step: name, status: 'canceled', outputs: {} };
  const masked = unkept(step);
  const outputs = Object.fromEntries(Object.entries(step.outputs).filter(([output]) => !masked.includes(output)));
  const { status, reason, message, exitCode, signal, tolerated, artifacts } = step;
  const kept = artifacts && [...firstItems(artifacts.files, artifacts.files.length)];
  if (status === 'succeeded') return { step: name, status, outputs, ...given({ kept }) };
  const before = { runId: originOf(run, step) ?? run.runId, reason, message, exitCode, signal };
  return { step: name, status, outputs, ...given({ tolerated, kept }), before };
}

/** Names of the step's outputs that contain secrets: they were stored masked. */
function unkept(step: StepState | null): readonly string[] {
  return step?.masked ?? [];
}

/** Null for a step that the run does not have. */
function earlier(run: RunState, name: string): StepState | null {
  return run.graph.index.has(name) ? stepState(run, name) : null;
}

/**
 * Whether a child run had the same workflow and parameters. A secret parameter is not stored, so it never counts as the
 * same.
 */
export function isSameChild(
  earlier: Pick<RunCreated, 'file' | 'workflow' | 'params'>,
  { file, name }: Pick<Workflow, 'file' | 'name'>,
  params: readonly Param[],
): boolean {
  if (earlier.file !== file || earlier.workflow !== name || earlier.params.length !== params.length) return false;
  return earlier.params.every((before, index) => {
    const now = params[index];
    return before.masked !== true && before.name === now?.name && before.value === now.value;
  });
}
