import { didYouMean, nearNames } from '#system/near-names.ts';
import { type Problem, problem } from '../diagnostic.ts';
import { asList } from '../raw.ts';
import { type StepEntry, spotIn } from '../read/spec-file.ts';

/** An edge of a graph, between the positions of two nodes. */
export type Edge = { readonly from: number; readonly to: number };

/** `from` depends on `to`; `at` is the position in `depends` of its step (null: given by `type: chain`). */
type Dependency = Edge & { readonly entry: StepEntry; readonly at: number | null };

/** Maximum number of cycles reported; a tangle can have very many. */
const MOST_CYCLES = 10;

/** Checks that names are unique, and that dependencies exist, as far as all steps are known, and form no cycle. */
export function graphProblems(entries: readonly StepEntry[], isComplete: boolean): Problem[] {
  const index = indexByName(entries);
  const problems = duplicateNames(entries, index);
  const unnamed = (name: string) => entries.find((entry) => entry.isUnnamed === true && entry.name === name);
  const edges = entries.map((entry, from): Dependency[] => {
    if (isChained(entry, entries[from - 1])) return [{ from, to: from - 1, entry, at: null }];
    return asList(entry.raw.depends).flatMap((name, at) => {
      const to = index.get(name);
      if (to !== undefined && to !== from) return { from, to, entry, at };
      if (to === from) problems.push(selfDependency(entry, at));
      else if (isComplete) problems.push(missingDependency(entry, at, index, unnamed(name)));
      return [];
    });
  });
  return [...problems, ...cyclesOf(edges, MOST_CYCLES).map((cycle) => cycleProblem(cycle, entries))];
}

/** Positions by the names and ids of the file. A name takes precedence over the id of another step. */
export function indexByName(entries: readonly StepEntry[]): Map<string, number> {
  const index = new Map<string, number>();
  entries.forEach(({ name, isUnnamed }, at) => {
    if (name !== null && isUnnamed !== true && !index.has(name)) index.set(name, at);
  });
  entries.forEach(({ raw }, at) => {
    if (raw.id !== undefined && !index.has(raw.id)) index.set(raw.id, at);
  });
  return index;
}

/** Whether a step of a chain depends on the previous one because it has no `depends` of its own. */
export function isChained(entry: StepEntry, before: StepEntry | undefined): boolean {
  return typeOf(entry) === 'chain' && entry.raw.depends === undefined && before?.file === entry.file;
}

function typeOf({ type, file }: StepEntry): 'graph' | 'chain' | undefined {
  return file.raw.type ?? type;
}

/** What is known of the order of steps, each by its position. */
export type Dependencies = {
  readonly index: ReadonlyMap<string, number>;
  /** Whether a step depends on another one, directly or through others. */
  readonly has: (user: number, used: number) => boolean;
  /** Whether the step belongs to a chain. */
  readonly isChained: (step: number) => boolean;
};

export function dependenciesOf(steps: readonly StepEntry[]): Dependencies {
  const index = indexByName(steps);
  const direct = (at: number) => {
    const entry = steps[at];
    if (entry === undefined) return [];
    const chained = isChained(entry, steps[at - 1]) ? [at - 1] : [];
    return [...chained, ...asList(entry.raw.depends).flatMap((name) => index.get(name) ?? [])];
  };
  return {
    index,
    isChained: (at) => steps[at] !== undefined && typeOf(steps[at]) === 'chain',
    has: (user, used) => {
      const first = direct(user);
      // Nearly every reference is to a direct dependency.
      if (first.includes(used)) return true;
      const found = new Set(first);
      for (const at of found) for (const next of direct(at)) found.add(next);
      return found.has(used);
    },
  };
}

function duplicateNames(entries: readonly StepEntry[], index: ReadonlyMap<string, number>): Problem[] {
  return entries.flatMap((entry) => {
    const first = entry.name === null ? undefined : entries[index.get(entry.name) ?? -1];
    if (first === undefined || first === entry) return [];
    const related = [{ spot: nameSpot(first), message: `"${first.name}" is defined here first` }];
    const options = { label: 'the second', related };
    return [problem('duplicate-step', nameSpot(entry), `two steps are named "${entry.name}"`, options)];
  });
}

function selfDependency(entry: StepEntry, at: number): Problem {
  const message = `step "${entry.name ?? ''}" depends on itself`;
  return problem('self-dependency', dependencySpot(entry, at), message);
}

/** `unnamed`: the step that is only called so because it has no name. */
function missingDependency(
  entry: StepEntry,
  at: number,
  index: ReadonlyMap<string, number>,
  unnamed: StepEntry | undefined,
): Problem {
  const name = asList(entry.raw.depends)[at] ?? '';
  if (unnamed !== undefined) {
    const message = `step "${entry.name ?? ''}" depends on "${name}", a step without a name`;
    return problem('missing-dependency', dependencySpot(entry, at), message, {
      help: 'Give it a name: the first word of its command is only shown as one, and changes with it.',
      related: [{ spot: spotIn(unnamed.file, unnamed.path), message: `this step is shown as "${name}"` }],
    });
  }
  const message = `step "${entry.name ?? ''}" depends on "${name}", which does not exist`;
  const label = () => didYouMean(nearNames(name, index.keys()));
  const help = severalNames(name, index) ?? 'A step may depend on steps of this file and of its imports.';
  return problem('missing-dependency', dependencySpot(entry, at), message, { label, help });
}

/** How to write several names that are in one text; null if the text is not that. */
function severalNames(text: string, index: ReadonlyMap<string, number>): string | null {
  const hasCommas = text.includes(',');
  const names = text.split(hasCommas ? /\s*,\s*/ : /\s+/).filter((name) => name !== '');
  // A name may contain blanks, but hardly ever a comma.
  if (names.length < 2 || !(hasCommas || names.some((name) => index.has(name)))) return null;
  return `For several steps, write a list: depends: [${names.map(inFlowList).join(', ')}]`;
}

/** A text as an entry of a list in brackets, in quotes if YAML requires them. */
function inFlowList(text: string): string {
  return /^[A-Za-z_][\w ./-]*$/.test(text) ? text : JSON.stringify(text);
}

/**
 * Finds every cycle once, but at most `most`, by a walk in the order of the nodes: each edge back into the current path
 * closes one, and is its first. Without recursion, since a chain may be as long as the file.
 */
export function cyclesOf<E extends Edge>(edges: readonly (readonly E[])[], most: number): [E, ...E[]][] {
  const found: [E, ...E[]][] = [];
  const state = new Uint8Array(edges.length); // 0 new, 1 on the path, 2 done
  for (const start of edges.keys()) {
    if (state[start] !== 0) continue;
    state[start] = 1;
    const path: { node: number; next: number; via: E | null }[] = [{ node: start, next: 0, via: null }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const edge = edges[top.node]?.[top.next++];
      if (edge === undefined) {
        state[top.node] = 2;
        path.pop();
      } else if (state[edge.to] === 0) {
        state[edge.to] = 1;
        path.push({ node: edge.to, next: 0, via: edge });
      } else if (state[edge.to] === 1 && found.length < most) {
        const begin = path.findIndex((step) => step.node === edge.to);
        found.push([edge, ...path.slice(begin + 1).flatMap((step) => step.via ?? [])]);
      }
    }
  }
  return found;
}

/** Reports a cycle, from the step that is first in the file. */
function cycleProblem(cycle: readonly [Dependency, ...Dependency[]], entries: readonly StepEntry[]): Problem {
  const least = cycle.reduce((found, { from }) => Math.min(found, from), cycle[0].from);
  const start = cycle.findIndex(({ from }) => from === least);
  const [first = cycle[0], ...others] = [...cycle.slice(start), ...cycle.slice(0, start)];
  const label = ({ entry, to }: Dependency) => `"${entry.name ?? ''}" depends on "${entries[to]?.name ?? ''}"`;
  const spot = ({ entry, at }: Dependency) => (at === null ? nameSpot(entry) : dependencySpot(entry, at));
  const names = [first, ...others].map(({ entry }) => entry.name ?? '');
  const shown = names.length > 20 ? [...names.slice(0, 10), `(${names.length - 15} more)`, ...names.slice(-5)] : names;
  const message = `dependency cycle: ${[...shown, names[0]].join(' -> ')}`;
  const related = others.slice(0, 20).map((edge) => ({ spot: spot(edge), message: label(edge) }));
  return problem('dependency-cycle', spot(first), message, { label: label(first), related });
}

/** The name of a step, or its key if steps are a map. */
export function nameSpot(entry: StepEntry): Problem['spot'] {
  if (entry.raw.name !== undefined) return spotIn(entry.file, [...entry.path, 'name']);
  if (entry.raw.id !== undefined) return spotIn(entry.file, [...entry.path, 'id']);
  return spotIn(entry.file, entry.path, 'key');
}

function dependencySpot({ file, path, raw }: StepEntry, at: number): Problem['spot'] {
  return spotIn(file, typeof raw.depends === 'string' ? [...path, 'depends'] : [...path, 'depends', at]);
}
