import { assignments, outputName } from '../build/assignments.ts';
import { parseParamDefaults } from '../params.ts';
import { type Problem, problem } from '../problem.ts';
import { asList } from '../raw.ts';
import { type SpecFile, type StepEntry, spotIn } from '../read/spec-file.ts';
import { dependenciesOf, nameSpot } from './check-graph.ts';
import { actionEntries } from './step/action-entries.ts';
import { entryUses } from './variables/entry-uses.ts';

/**
 * Warns of steps that start at the same time although the file says nothing of their order: Dagu from 1.17 to 2.6 starts
 * them one after another, and stops at the first failure. `settings`: the base and the root file.
 */
export function orderProblems(settings: readonly SpecFile[], steps: readonly StepEntry[]): Problem[] {
  const root = settings.at(-1);
  if (root === undefined || settings.some(({ raw }) => raw.type !== undefined)) return [];
  const free = steps.filter(({ raw }) => asList(raw.depends).length === 0);
  const isOrdered = free.length < steps.length && !root.isOfLaterDagu;
  if (free.length < 2 || isOrdered) return [];
  const limit = settings
    .map(({ raw }) => raw.maxActiveSteps ?? raw.maxActiveRuns)
    .findLast((most) => most !== undefined);
  const message =
    limit === 1
      ? `these ${free.length} steps run one after another, each also after a failure of the one before`
      : `these ${free.length} steps start at the same time`;
  const help = 'Write "type: chain" at the top to run them in this order, or "type: graph" if this is intended.';
  const [first, ...others] = free;
  if (first === undefined) return [];
  const related = others.slice(0, 1).map((entry) => ({ spot: nameSpot(entry), message: 'and this one' }));
  return [problem('unordered-steps', nameSpot(first), message, { severity: 'warning', help, related })];
}

/**
 * Warns of steps that use the output of a step that they do not depend on: it is empty, or that of an earlier step, as it
 * happens. `isStrict`: an error.
 */
export function outputProblems(
  settings: readonly SpecFile[],
  steps: readonly StepEntry[],
  { isStrict }: { readonly isStrict: boolean },
): Problem[] {
  const setters = settersOf(steps);
  for (const name of namesSetElsewhere(settings)) setters.delete(name);
  if (setters.size === 0 || settings.some(({ raw }) => raw.dotenv !== undefined)) return [];
  const before = dependenciesOf(steps);
  const shell = settings.map(({ raw }) => raw.shell).findLast((given) => given !== undefined) ?? 'sh';
  const isInside = settings.some(({ raw }) => raw.container !== undefined);
  const names = new Map(steps.map((entry, at) => [entry.raw as object, at]));
  return [...new Set(steps.map(({ file }) => file))].flatMap(actionEntries).flatMap(({ raw, hasDollar }) => {
    const at = names.get(raw);
    const entry = at === undefined ? undefined : steps[at];
    // Handlers may use the outputs of all steps.
    if (!hasDollar || at === undefined || entry === undefined || before.isChained(at)) return [];
    const own = new Set(assignments(raw.env).map(({ name }) => name));
    const seen = new Set<string>();
    return entryUses(raw, isInside ? null : shell).flatMap((use) => {
      const found = setters.get(use.name);
      if (found === undefined || own.has(use.name) || seen.has(use.name)) return [];
      seen.add(use.name);
      if (found.some((setter) => setter === at || before.has(at, setter))) return [];
      const setter = steps[found[0] ?? -1];
      if (setter === undefined) return [];
      const spot = spotIn(entry.file, [...entry.path, ...use.path]);
      const word = { at: use.at, text: use.name };
      const message = `$${use.name} is the output of "${setter.name}", which "${entry.name}" does not depend on`;
      return [
        problem('unordered-output', { ...spot, word }, message, {
          severity: isStrict ? 'error' : 'warning',
          help: `Write "depends: ${setter.name}" in "${entry.name}", or "\${${use.name}:-}" if it may be missing.`,
          related: [
            { spot: spotIn(setter.file, [...setter.path, 'output']), message: `the output of "${setter.name}"` },
          ],
        }),
      ];
    });
  });
}

/** Warns of a limit that means runs in Dagu 1.17 and later, if nothing else in the file shows whether it is for those. */
export function limitProblems(file: SpecFile): Problem[] {
  const { maxActiveRuns, maxActiveSteps } = file.raw;
  if (maxActiveRuns === undefined || maxActiveRuns < 1 || maxActiveSteps !== undefined) return [];
  const message = '"maxActiveRuns" limits the steps that run at once; in Dagu 1.17 and later it limits runs';
  const help = 'Write "maxActiveSteps" for steps, or "maxConcurrent" for runs.';
  return [problem('limit-of-runs', spotIn(file, ['maxActiveRuns'], 'key'), message, { severity: 'warning', help })];
}

/** The steps that set each output. */
function settersOf(steps: readonly StepEntry[]): Map<string, number[]> {
  const setters = new Map<string, number[]>();
  for (const [at, { raw }] of steps.entries()) {
    const name = outputName(raw);
    if (name !== null) setters.set(name, [...(setters.get(name) ?? []), at]);
  }
  return setters;
}

function namesSetElsewhere(settings: readonly SpecFile[]): readonly string[] {
  return settings.flatMap(({ raw }) => [
    ...parseParamDefaults(raw.params).flatMap(({ name }) => name ?? []),
    ...assignments(raw.env).map(({ name }) => name),
  ]);
}
