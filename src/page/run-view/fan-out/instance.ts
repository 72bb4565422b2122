import { presentLook } from '../../../render/report/status-look.ts';
import type { StepView } from '../view.ts';

/** In pixels: the room for the control that unfolds a fan-out in a graph. */
export const FOLD_ROOM = 28;

/** An instance of a fan-out. */
export type Instance = NonNullable<StepView['items']>[number];

/** The fan-outs of a run whose instances are shown, by name. */
export type Unfolding = { readonly names: ReadonlySet<string>; readonly toggle: (step: string) => void };

/** The name of a step; of a fan-out with the number of its instances: `ship x5`. */
export function countedName({ name, items }: Pick<StepView, 'name' | 'items'>): string {
  return items === undefined ? name : `${name} x${items.length}`;
}

/** How many instances have ended, of how many: `3/5`. */
export function progressText(items: readonly Instance[]): string {
  return `${items.filter(({ status }) => isEnd(status)).length}/${items.length}`;
}

function isEnd(status: StepView['status']): boolean {
  return !['pending', 'scheduled', 'running', 'waiting'].includes(status);
}

/** How many instances have each status: `3 succeeded, 1 failed`. */
export function countsText(items: readonly Instance[]): string {
  const counts = new Map<string, number>();
  for (const item of items) {
    const { word } = presentLook(item);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return Array.from(counts, ([word, count]) => `${count} ${word}`).join(', ');
}

/** The item of an instance as text; null if it is the key of the instance. */
export function itemText({ item, key }: Instance): string | null {
  const text = typeof item === 'object' ? JSON.stringify(item) : String(item);
  return text === key ? null : text;
}

/** The instance that is shown of a fan-out: that with the key, else the first that failed, else one that runs. */
export function shownInstance(items: readonly Instance[], key: string | undefined): Instance | undefined {
  const withStatus = (status: StepView['status']) => items.find((item) => item.status === status);
  return items.find((item) => item.key === key) ?? withStatus('failed') ?? withStatus('running') ?? items[0];
}

/** An instance as a step. A view has no history of an instance with one attempt. */
export function instanceStep(instance: Instance): StepView {
  return { ...instance, maskedOutputs: [], kept: false, history: instance.history ?? wholeTime(instance) };
}

/** The time from the start to the end of a step as if it were one attempt; none if it has not started. */
export function wholeTime(step: Omit<Instance, 'key' | 'index' | 'item'>): StepView['history'] {
  const { startedAt, finishedAt, status, attempts, error, exitCode, signal } = step;
  if (startedAt === null) return [];
  const end = status === 'failed' || status === 'skipped' || status === 'canceled' ? status : ('succeeded' as const);
  const outcome = finishedAt === null ? null : end;
  const attempt = { attempt: Math.max(1, attempts), status: outcome, error, exitCode, signal };
  return [{ ...attempt, scheduledAt: startedAt, startedAt, finishedAt, next: null }];
}

/** Steps with the instances of those fan-outs that are unfolded after them; `of`: the fan-out of an instance. */
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
