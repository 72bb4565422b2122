import {
  given,
  indexSet,
  itemAt,
  type Vector,
  withIndex,
  withItem,
  withMore,
  withoutIndex,
} from '../data/collections.ts';
import { type Graph, nodeAt, withNodes } from '../graph.ts';
import type { StepEnd } from '../run/outcome.ts';
import { withSets } from '../run/ready-sets.ts';
import type { Item } from '../run/run.ts';
import {
  hasAttempt,
  type Instances,
  initialStep,
  instancesOf,
  isActive,
  isDue,
  isSettled,
  type RunState,
  type StepState,
  stepNode,
} from '../run/run-state.ts';
import { mentionsIn } from '../words/mentions.ts';
import type { Json, JsonObject, Precondition, Step } from '../workflow.ts';
import { instanceName } from './instance-name.ts';
import { isItemVariable } from './items.ts';

/** The only number of the fan-out itself; each instance evaluates the others. */
const MAX_CONCURRENT = 'parallel.maxConcurrent';

/** The instances of a fan-out that is to be expanded next; all of them may start. */
export function newInstances(
  { graph }: RunState,
  { items, maxConcurrent }: { readonly items: readonly Item[]; readonly maxConcurrent?: number },
): Instances {
  const ready = indexSet(items.length, items.keys());
  const none = { again: indexSet(items.length, []), active: 0, keeping: 0, settled: 0, canceling: null };
  return { first: graph.nodes.length, count: items.length, ready, ...none, ...given({ maxConcurrent }) };
}

/** Adds the instances of a fan-out as nodes of the run. */
export function addInstances(run: RunState, fanOut: number, items: readonly Item[]): RunState {
  const step = nodeAt(run.graph, fanOut);
  const steps = items.map(({ key }) => instanceStep(step, key));
  const states = steps.map(({ name }, index) => ({
    ...initialStep(name, 0),
    item: { ...(items[index] as Item), fanOut, index },
  }));
  const next = { ...run, graph: withNodes(run.graph, steps), nodes: withMore(run.nodes, states) };
  return withInstances(next, fanOut, instancesAt(run, fanOut));
}

/** The graph of a workflow with the instances that a run of it has, by the states of all its nodes. */
export function withInstanceNodes(graph: Graph, nodes: Vector<StepState>): Graph {
  const first = graph.nodes.length;
  const instances = Array.from({ length: nodes.length - first }, (_, index) => {
    const { item } = itemAt(nodes, first + index);
    if (item === undefined) throw new RangeError(`The node ${first + index} is no instance.`);
    return instanceStep(nodeAt(graph, item.fanOut), item.key);
  });
  return instances.length === 0 ? graph : withNodes(graph, instances);
}

/** Counts the change of an instance in its fan-out. */
export function countInstance(run: RunState, before: StepState, after: StepState): RunState {
  const mayStart = isDue(after);
  const { fanOut = 0, index = 0 } = after.item ?? {};
  const instances = instancesAt(run, fanOut);
  const active = Number(isActive(after)) - Number(isActive(before));
  const { failFast = false } = nodeAt(run.graph, fanOut).fanOut ?? {};
  const keeps = ({ status, waitingFor }: StepState) => failFast && status === 'waiting' && waitingFor === 'retry';
  const next = withInstances(run, fanOut, {
    ...instances,
    active: instances.active + Number(hasAttempt(after)) - Number(hasAttempt(before)),
    settled: instances.settled + Number(isSettled(after)) - Number(isSettled(before)),
    ready: (mayStart ? withIndex : withoutIndex)(instances.ready, index),
    again: (mayStart && keeps(after) ? withIndex : withoutIndex)(instances.again, index),
    keeping: instances.keeping + Number(keeps(after)) - Number(keeps(before)),
  });
  return { ...next, active: next.active + active };
}

/** Lets no further instance start. */
export function cancelInstances(run: RunState, fanOut: number, canceling: string): RunState {
  return withInstances(run, fanOut, { ...instancesAt(run, fanOut), canceling });
}

/** The state of the fan-out of an instance; null for any other step. */
export function fanOutOf(run: RunState, { item }: StepState): StepState | null {
  return item === undefined ? null : itemAt(run.nodes, item.fanOut);
}

/**
 * A fan-out for reading its items, before it has instances: without texts that mention the item, and without `env` if
 * no other text can use it.
 */
export function beforeItems(step: Step): Step {
  const preconditions = step.preconditions.filter((precondition) => !mentionsItem(precondition));
  const isConstant =
    preconditions.length === 0 && step.numbers === undefined && !JSON.stringify(step.fanOut?.items).match(/[$`]/);
  const dependent = new Set<string>();
  const env = step.env.filter(({ name, value }) => {
    const isDependent = mentions(value, (used) => isItemVariable(used) || dependent.has(used));
    if (isDependent) dependent.add(name);
    return !isDependent;
  });
  const dir = step.dir !== null && mentions(step.dir, isItemVariable) ? null : step.dir;
  const { numbers: all, locks: _, ...rest } = step;
  const numbers = all?.filter(({ key }) => key === MAX_CONCURRENT);
  const own = numbers === undefined || numbers.length === 0 ? {} : { numbers };
  return { ...rest, ...own, preconditions, dir, env: isConstant ? [] : env };
}

/** An instance depends on its fan-out only: that started when the dependencies let it. */
function instanceStep({ fanOut: _, ...step }: Step, key: string): Step {
  const preconditions = step.preconditions.filter(mentionsItem);
  const numbers = step.numbers?.filter((number) => number.key !== MAX_CONCURRENT);
  const own = numbers === undefined ? {} : { numbers };
  const name = instanceName(step.name, key);
  return { ...step, ...own, name, instanceOf: step.name, depends: [step.name], preconditions };
}

function mentionsItem({ condition, expected }: Precondition): boolean {
  return mentions(`${condition}\n${expected ?? ''}`, isItemVariable);
}

function mentions(text: string, isMeant: (name: string) => boolean): boolean {
  return [...mentionsIn([text]).names].some(isMeant);
}

function instancesAt(run: RunState, fanOut: number): Instances {
  const { name, instances } = itemAt(run.nodes, fanOut);
  if (instances === undefined) throw new RangeError(`The step "${name}" has no instances.`);
  return instances;
}

/** Changes the instances of a fan-out. */
function withInstances(run: RunState, fanOut: number, instances: Instances): RunState {
  const after = { ...itemAt(run.nodes, fanOut), instances };
  return withSets({ ...run, nodes: withItem(run.nodes, fanOut, after) }, fanOut, after);
}

/** Maximum number of instances named in a message. */
const MOST_NAMES = 10;
/** Largest value of an `output` variable, in bytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * The result of a fan-out: failed if an instance failed, which is tolerated if all failures are; else canceled if one
 * was; skipped if all were.
 */
export function fanOutResult(run: RunState, fanOut: StepState): StepEnd {
  const instances = instancesOf(run, fanOut);
  return withOutput(run, fanOut, instances, endOf(instances));
}

function endOf(instances: readonly StepState[]): StepEnd {
  const nothing = { reason: null, message: '', exitCode: null, signal: null, outputs: null, tolerated: null };
  const notRun = instances.find(({ status }) => status === 'upstream_failed');
  if (notRun !== undefined) return { ...nothing, status: 'upstream_failed', message: notRun.message };
  const failed = instances.filter(({ status }) => status === 'failed');
  const canceled = instances.filter(({ status }) => status === 'canceled');
  const cause = failed.find(({ tolerated }) => tolerated === null) ?? (canceled.length > 0 ? undefined : failed[0]);
  if (cause !== undefined) {
    const { reason, exitCode, signal, tolerated } = cause;
    const message = countText(instances, failed, 'failed');
    return { ...nothing, status: 'failed', reason, message, exitCode, signal, tolerated };
  }
  if (canceled.length > 0) {
    return { ...nothing, status: 'canceled', message: countText(instances, canceled, 'canceled') };
  }
  const isSkipped = instances.length > 0 && instances.every(({ status }) => status === 'skipped');
  if (isSkipped) return { ...nothing, status: 'skipped', message: `all ${instances.length} skipped` };
  return { ...nothing, status: 'succeeded' };
}

/** `2 of 5 failed: web3, web7`. */
function countText(all: readonly StepState[], some: readonly StepState[], what: 'failed' | 'canceled'): string {
  const names = some.slice(0, MOST_NAMES).map(({ item }) => item?.key ?? '');
  const more = some.length > MOST_NAMES ? ', ...' : '';
  return `${some.length} of ${all.length} ${what}: ${names.join(', ')}${more}`;
}

/** Adds the output of all instances as JSON. One that does not fit a variable fails the step. */
function withOutput(run: RunState, { name }: StepState, instances: readonly StepState[], result: StepEnd): StepEnd {
  const { output, executor } = stepNode(run, name);
  if (output === null) return result;
  const json = JSON.stringify(outputOf(instances, output, executor.type === 'workflow'));
  const size = utf8Length(json);
  if (size <= MAX_OUTPUT_BYTES) return { ...result, outputs: { [output]: json } };
  if (result.status !== 'succeeded') return { ...result, outputs: {} };
  const message = `output "${output}" has ${size} bytes; a variable can hold ${MAX_OUTPUT_BYTES}`;
  return { ...result, status: 'failed', reason: 'error', message, outputs: {} };
}

function outputOf(instances: readonly StepState[], name: string, hasChildren: boolean): JsonObject {
  const count = (status: StepState['status']) => instances.filter((instance) => instance.status === status).length;
  const succeeded = instances.filter(({ status }) => status === 'succeeded');
  return {
    summary: {
      total: instances.length,
      succeeded: succeeded.length,
      failed: count('failed'),
      skipped: count('skipped'),
      canceled: count('canceled'),
    },
    outputs: succeeded.map(({ outputs }) => (hasChildren ? outputsOfChild(outputs[name]) : outputs)),
    results: instances.map(({ item, status, exitCode, child, outputs }) => ({
      key: item?.key ?? '',
      index: item?.index ?? 0,
      item: item?.value ?? '',
      status,
      exitCode,
      runId: child ?? null,
      output: outputs[name] ?? null,
    })),
  };
}

/** The outputs in the result of a child run, which is JSON. */
function outputsOfChild(result: string | undefined): Json {
  const { outputs = {} } = JSON.parse(result || '{}') as { readonly outputs?: JsonObject };
  return outputs;
}

function utf8Length(text: string): number {
  let length = text.length;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    // A code point above U+FFFF is two characters and four bytes.
    if (code > 0x7ff) length += 2;
    else if (code > 0x7f) length += 1;
  }
  return length;
}
