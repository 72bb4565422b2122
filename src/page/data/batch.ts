import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { api, ask } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';

export type BatchAction = 'stop' | 'retry' | 'delete';

/** The outcome of an action on one run: an error message, or null; `runId`: the new run of a retry. */
export type Outcome = { readonly error: string | null; readonly runId: string | null };

/** The selected runs, and the last action on them. */
export type RunBatch = {
  readonly chosen: ReadonlySignal<ReadonlySet<string>>;
  /** Selects or deselects a run; with `isRange`, all runs from the last selected one, in list order. */
  readonly toggle: (runId: string, list: readonly string[], isRange: boolean) => void;
  readonly clear: () => void;
  readonly isPending: ReadonlySignal<boolean>;
  /** Null before the first action. */
  readonly done: ReadonlySignal<{
    readonly action: BatchAction;
    readonly count: number;
    readonly failed: number;
  } | null>;
  readonly outcomes: ReadonlySignal<ReadonlyMap<string, Outcome>>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  readonly act: (action: BatchAction) => Promise<void>;
};

/** The limit of runs in one request. */
const MAX_RUNS = 500;

/** Starts with an empty selection. */
export function createBatch(): RunBatch {
  const chosen = signal<ReadonlySet<string>>(new Set());
  const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map());
  const action = signal<BatchAction | null>(null);
  const isPending = signal(false);
  const problem = signal<ApiProblem | null>(null);
  let last: string | null = null;
  return {
    chosen,
    outcomes,
    isPending,
    problem,
    done: computed(() => {
      if (action.value === null || isPending.value) return null;
      const all = [...outcomes.value.values()];
      return { action: action.value, count: all.length, failed: all.filter(({ error }) => error !== null).length };
    }),
    toggle: (runId, list, isRange) => {
      const next = new Set(chosen.value);
      const [from, to] = [list.indexOf(last ?? ''), list.indexOf(runId)].toSorted((a, b) => a - b);
      if (isRange && from !== undefined && from !== -1)
        for (const each of list.slice(from, (to ?? 0) + 1)) next.add(each);
      else if (!next.delete(runId)) next.add(runId);
      last = runId;
      chosen.value = next;
    },
    clear: () => {
      chosen.value = new Set();
    },
    act: async (wanted) => {
      const ids = [...chosen.value];
      action.value = wanted;
      outcomes.value = new Map();
      isPending.value = true;
      problem.value = null;
      try {
        for (let at = 0; at < ids.length; at += MAX_RUNS) {
          const body = { ids: ids.slice(at, at + MAX_RUNS), action: wanted };
          const { results } = await ask(api.POST('/api/v2/runs/batch', { body }));
          const found = results.map(({ id, done, message, runId }): [string, Outcome] => [
            id,
            { error: done ? null : (message ?? 'failed'), runId: done && runId !== id ? runId : null },
          ]);
          outcomes.value = new Map([...outcomes.value, ...found]);
        }
        // Failed runs stay selected.
        chosen.value = new Set(ids.filter((id) => outcomes.value.get(id)?.error != null));
      } catch (error) {
        problem.value = ApiProblem.of(error);
      } finally {
        isPending.value = false;
      }
    },
  };
}
