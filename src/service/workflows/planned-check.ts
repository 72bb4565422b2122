import { type StaleReason, shortened, staleReasons } from '#core/fingerprint.ts';
import type { PlannedCache } from '#core/plan.ts';
import { previewText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Step, UpToDateRule, Workflow } from '#core/workflow.ts';
import { EvaluationProblem } from '#environment/environment.ts';
import { inspectInputs } from '#environment/fingerprint.ts';
import type { StepChecks } from '#store/store.ts';
import { pathFrom } from '#system/files.ts';

/** What a plan knows when it checks a step. */
export type PlannedCheckParts = {
  /** Returns `${NAME}`, or a text with backticks, for a value that is known only during a run. */
  readonly scope: (name: string) => string | undefined;
  readonly args: readonly string[];
  /** The names by which texts use the results of steps. */
  readonly results: ReadonlySet<string>;
  readonly checks: StepChecks;
  readonly mostReasons: number;
  readonly now: number;
};

/** Checks whether a step would be up to date, or restored, if it ran now. It stores nothing. */
export async function plannedCheck(
  workflow: Workflow,
  { step, rule }: { readonly step: Step; readonly rule: UpToDateRule },
  parts: PlannedCheckParts,
): Promise<PlannedCache> {
  const { scope, mostReasons } = parts;
  const { fingerprints, cache } = parts.checks;
  const { success, isCurrent } = fingerprints.read(step.name);
  const from = success?.runId ?? null;
  if (step.fanOut !== undefined) return { hit: null, reason: [], from: null };
  if (success === null && rule.cache === undefined)
    return { hit: false, reason: [{ kind: 'missing', name: 'success' }], from };
  try {
    const inspection = await inspectInputs({
      workflow,
      step,
      rule,
      scope,
      env: Object.fromEntries(step.env.map(({ name }) => [name, scope(name) ?? ''])),
      args: parts.args,
      cwd: pathFrom(workflow.dir, previewText(step.dir ?? '', scope), scope('HOME')),
      key: fingerprints.key(),
      hashes: fingerprints.hashes(step.name),
      now: () => parts.now,
    });
    const all = staleReasons(inspection, success?.entries ?? null, { isCurrent, isForced: false });
    const known = all.filter((reason) => !isUnknown(reason, parts));
    const why = shortened(known, undefined, mostReasons);
    if (known.length === 0) return { hit: all.length > 0 ? null : true, ...why, from };
    if (rule.cache === undefined || cache.maxBytes === 0) return { hit: false, ...why, from };
    if (inspection.entries.some(([kind, name]) => isUnknown({ kind, name }, parts))) return { hit: null, ...why, from };
    const slot = { step: step.name, scope: rule.cache.scope, entries: inspection.entries };
    const earlier = cache.read(slot).success;
    return earlier === null ? { hit: false, ...why, from } : { hit: true, ...why, from: earlier.runId, restored: true };
  } catch (error) {
    if (!(error instanceof EvaluationProblem || error instanceof PathProblem)) throw error;
    return { hit: null, reason: [], from, problem: error.message };
  }
}

/** Whether a variable has its value only during a run: an output, a command substitution, the result of a step. */
function isUnknown({ kind, name }: StaleReason, { scope, results }: PlannedCheckParts): boolean {
  if (kind !== 'variable') return false;
  const [base = ''] = name.split(/[.[]/);
  return results.has(base) || /`|\$\{/.test(scope(base) ?? '');
}
