import { itemAt } from '../data/collections.ts';
import { type RunState, stepNode, stepState } from '../run/run-state.ts';

/** The name of an instance of a fan-out as a node of the run: `NAME[KEY]`. */
export function instanceName(step: string, key: string): string {
  return `${step}[${key}]`;
}

/** The fan-out and the key in the name of an instance; null for any other form of name. */
export function splitInstanceName(name: string): { readonly step: string; readonly key: string } | null {
  const { 1: step, 2: key } = /^(.+)\[([^[\]]+)\]$/s.exec(name) ?? [];
  return step === undefined || key === undefined ? null : { step, key };
}

/** The node of a run that a user names: a step, a handler, or an instance by its key or index. Null if it has none. */
export function namedStep(run: RunState, name: string): string | null {
  if (run.graph.index.has(name)) return name;
  const { step = '', key = '' } = splitInstanceName(name) ?? {};
  const instances = run.graph.index.has(step) ? stepState(run, step).instances : undefined;
  if (instances === undefined || !/^\d{1,5}$/.test(key) || Number(key) >= instances.count) return null;
  return itemAt(run.nodes, instances.first + Number(key)).name;
}

/** Whether a node is the one that a user names, or an instance of it. Null names all. */
export function isNamed(run: RunState, wanted: string | null): (step: string) => boolean {
  if (wanted === null) return () => true;
  const name = namedStep(run, wanted) ?? wanted;
  // The workflow of a run of a daemon does not say which steps are fan-outs.
  const isFanOut =
    run.graph.index.has(name) &&
    (stepNode(run, name).fanOut !== undefined || stepState(run, name).instances !== undefined);
  return (step) => step === name || (isFanOut && splitInstanceName(step)?.step === name);
}
