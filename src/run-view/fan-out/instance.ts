import type { StepView } from '../api/types.ts';
import { isEnd } from '../status.tsx';

/** Width of the control that expands a fan-out in a graph, in pixels. */
export const FOLD_ROOM = 28;

/** An instance of a fan-out. */
export type Instance = NonNullable<StepView['items']>[number];

/** The names of the expanded fan-outs of a run. */
export type Unfolding = { readonly names: ReadonlySet<string>; readonly toggle: (step: string) => void };

/** The name of a step; with the number of instances for a fan-out: `ship x5`. */
export function countedName({ name, items }: Pick<StepView, 'name' | 'items'>): string {
  return items === undefined ? name : `${name} x${items.length}`;
}

/** How many instances have finished: `3/5`. */
export function progressText(items: readonly Instance[]): string {
  return `${items.filter(({ status }) => isEnd(status)).length}/${items.length}`;
}

/** The item of an instance as text; null if it equals the key of the instance. */
export function itemText({ item, key }: Instance): string | null {
  const text = typeof item === 'object' ? JSON.stringify(item) : String(item);
  return text === key ? null : text;
}

/** The instance of a fan-out to show: the one with the key, else the first failed one, else a running one. */
export function shownInstance(items: readonly Instance[], key: string | undefined): Instance | undefined {
  const withStatus = (status: StepView['status']) => items.find((item) => item.status === status);
  return items.find((item) => item.key === key) ?? withStatus('failed') ?? withStatus('running') ?? items[0];
}

/** An instance as a step. A view has no attempt history for an instance with one attempt. */
export function instanceStep(instance: Instance): StepView {
  return { ...instance, maskedOutputs: [], kept: false, history: instance.history ?? wholeTime(instance) };
}

/** The time from the start to the end of a step as a single attempt; none if it has not started. */
export function wholeTime(step: Omit<Instance, 'key' | 'index' | 'item'>): StepView['history'] {
  const { startedAt, finishedAt, status, attempts, error, exitCode, signal } = step;
  if (startedAt === null) return [];
  const end = status === 'failed' || status === 'skipped' || status === 'canceled' ? status : ('succeeded' as const);
  const outcome = finishedAt === null ? null : end;
  const attempt = { attempt: Math.max(1, attempts), status: outcome, error, exitCode, signal };
  return [{ ...attempt, scheduledAt: startedAt, startedAt, finishedAt, next: null }];
}

/** Steps, each expanded fan-out followed by its instances; `of`: the fan-out of an instance. */
export function unfolded(
  steps: readonly StepView[],
  names: ReadonlySet<string>,
): readonly { readonly step: StepView; readonly instance: Instance | null; readonly of: string | null }[] {
  return steps.flatMap((step) => [
    { step, instance: null, of: null },
    ...(names.has(step.name) ? (step.items ?? []) : []).map((instance) => ({
      step: instanceStep(instance),
      instance,
      of: step.name,
    })),
  ]);
}
