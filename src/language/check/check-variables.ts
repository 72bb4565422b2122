import { assignments } from '../build/assignments.ts';
import { parseParamDefaults } from '../params.ts';
import type { Problem, Spot } from '../problem.ts';
import { problem } from '../problem.ts';
import type { SpecFile } from '../read/spec-file.ts';
import { spotIn } from '../read/spec-file.ts';

/** A parameter's default or an entry of `env`, with the variables it refers to. */
type Variable = {
  readonly kind: 'param' | 'env';
  readonly name: string;
  readonly refers: readonly string[];
  readonly spot: Spot;
};

const REFERENCE = /\\\$|\$(?:\{([A-Za-z_]\w*|\d+)|([A-Za-z_]\w*|\d+))/g;

/**
 * Reports cycles between parameters and `env`: a default may use earlier parameters and `env`, an entry of `env`
 * earlier entries and the parameters. Any other name is a variable of the process. `files` are the base and the root,
 * in this order.
 */
export function variableProblems(files: readonly SpecFile[]): Problem[] {
  const env = files.flatMap(envOf);
  const params = files.findLast((file) => file.raw.params !== undefined);
  const variables = [...(params === undefined ? [] : paramsOf(params)), ...env];
  const circle = findCircle(edgesOf(variables));
  return circle === null ? [] : [circleProblem(circle.flatMap((at) => variables[at] ?? []))];
}

function envOf(file: SpecFile): Variable[] {
  return assignments(file.raw.env).map(({ name, value, path }) => {
    return { kind: 'env', name, refers: references(value), spot: spotIn(file, ['env', ...path]) };
  });
}

function paramsOf(file: SpecFile): Variable[] {
  return parseParamDefaults(file.raw.params).map(({ name, value }, index) => {
    return {
      kind: 'param',
      name: name ?? String(index + 1),
      refers: references(value),
      spot: spotIn(file, ['params']),
    };
  });
}

function references(value: string): string[] {
  const names = [...value.matchAll(REFERENCE)].map((match) => match[1] ?? match[2]);
  return names.filter((name) => name !== undefined);
}

/**
 * The positions that each variable refers to. Parameters take precedence over `env`; of its own kind, a variable sees
 * only earlier ones.
 */
function edgesOf(variables: readonly Variable[]): number[][] {
  const params = new Map<string, number>();
  const env = new Map<string, number>();
  for (const [at, { kind, name }] of variables.entries()) if (kind === 'env') env.set(name, at);
  const earlierEnv = new Map<string, number>();
  return variables.map(({ kind, name, refers }, at) => {
    const visibleEnv = kind === 'env' ? earlierEnv : env;
    const targets = refers.map((reference) => params.get(reference) ?? visibleEnv.get(reference));
    if (kind === 'env') earlierEnv.set(name, at);
    else params.set(String(at + 1), at).set(name, at);
    return targets.filter((target) => target !== undefined);
  });
}

/** The first cycle found by a walk from each node in turn. */
function findCircle(edges: readonly (readonly number[])[]): number[] | null {
  const done = new Set<number>();
  for (const start of edges.keys()) {
    const path = [{ node: start, next: 0 }];
    const onPath = new Set([start]);
    for (let top = path.at(-1); top !== undefined && !done.has(start); top = path.at(-1)) {
      const node = edges[top.node]?.[top.next++];
      if (node === undefined) {
        done.add(top.node);
        onPath.delete(top.node);
        path.pop();
      } else if (onPath.has(node)) {
        return path.slice(path.findIndex((step) => step.node === node)).map((step) => step.node);
      } else if (!done.has(node)) {
        onPath.add(node);
        path.push({ node, next: 0 });
      }
    }
  }
  return null;
}

function circleProblem(circle: readonly Variable[]): Problem {
  const label = ({ kind, name }: Variable) => `${kind === 'env' ? 'env' : 'params'} "${name}"`;
  const [first, ...others] = circle;
  if (first === undefined) throw new Error('a cycle without variables');
  const path = [...circle, first].map(label).join(' -> ');
  return problem('variable-cycle', first.spot, `variables form a reference cycle: ${path}`, {
    related: others.map((variable) => ({ spot: variable.spot, message: `${label(variable)} is defined here` })),
    help: 'Give one of them a value without a variable.',
  });
}
