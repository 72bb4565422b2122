import type { RunHead, RunSummary, StepView } from '#run-view/api/types.ts';

type ComparedStep = Pick<StepView, 'status' | 'durationMs'>;

/** A step of a run beside the same step of an earlier run; null if that run does not have the step. */
export type StepComparison = {
  readonly name: string;
  readonly step: ComparedStep | null;
  readonly before: ComparedStep | null;
  /** The difference of the durations, in milliseconds; null if one of them has no duration. */
  readonly longerMs: number | null;
};

/** Compares the steps of two runs: those with different statuses first, then by difference of duration. */
export function compareSteps(
  steps: readonly (ComparedStep & { readonly name: string })[],
  earlier: Pick<RunSummary, 'steps' | 'handlers'>,
): readonly StepComparison[] {
  const before = new Map([...earlier.steps, ...earlier.handlers].map((step) => [step.name, step]));
  const names = new Set([...steps.map(({ name }) => name), ...before.keys()]);
  const own = new Map(steps.map((step) => [step.name, step]));
  const rows = Array.from(names, (name): StepComparison => {
    const [step = null, then = null] = [own.get(name), before.get(name)];
    const [now, past] = [step?.durationMs ?? null, then?.durationMs ?? null];
    return { name, step, before: then, longerMs: now === null || past === null ? null : now - past };
  });
  return rows.toSorted(
    (a, b) => Number(isChanged(b)) - Number(isChanged(a)) || Math.abs(b.longerMs ?? 0) - Math.abs(a.longerMs ?? 0),
  );
}

/** Whether the statuses of a step differ. */
export function isChanged({ step, before }: StepComparison): boolean {
  return step?.status !== before?.status;
}

/** The parameters with different values; null: not given. */
export function compareParams(
  run: Pick<RunHead, 'params'>,
  earlier: Pick<RunHead, 'params'>,
): readonly { readonly name: string; readonly value: string | null; readonly before: string | null }[] {
  const valuesOf = ({ params }: Pick<RunHead, 'params'>) =>
    new Map(params.map(({ name, value }, index) => [name ?? `$${index + 1}`, value]));
  const [own, before] = [valuesOf(run), valuesOf(earlier)];
  return [...new Set([...own.keys(), ...before.keys()])]
    .map((name) => ({ name, value: own.get(name) ?? null, before: before.get(name) ?? null }))
    .filter(({ value, before: known }) => value !== known);
}
