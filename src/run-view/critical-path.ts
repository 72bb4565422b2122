import type { RunGraph, StepView } from './view.ts';

type Timed = Pick<StepView, 'name' | 'startedAt' | 'finishedAt' | 'kept'>;

/**
 * The critical path, from the first step to the last: each step is the dependency of the next one that finished last.
 * Empty if no step waited for another. `steps` are without handlers.
 */
export function criticalPath(steps: readonly Timed[], edges: RunGraph['edges']): readonly string[] {
  const ran = steps.filter(({ startedAt, kept }) => startedAt !== null && !kept);
  const ends = new Map(
    ran.flatMap(({ name, finishedAt }) => (finishedAt === null ? [] : [[name, finishedAt] as const])),
  );
  const needs = new Map<string, string[]>();
  for (const { from, to } of edges) needs.set(to, [...(needs.get(to) ?? []), from]);
  const latest = (names: Iterable<string>): string | undefined => {
    let found: string | undefined;
    for (const name of names) {
      const end = ends.get(name);
      if (end !== undefined && (found === undefined || end > (ends.get(found) ?? ''))) found = name;
    }
    return found;
  };
  const path: string[] = [];
  for (let at = latest(ends.keys()); at !== undefined; at = latest(needs.get(at) ?? [])) path.unshift(at);
  return path.length > 1 ? path : [];
}
