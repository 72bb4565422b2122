import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { hasTag } from '#core/tags.ts';
import type { RunHead } from '#run-view/api/types.ts';
import { ApiProblem, api, ask } from '../api/client.ts';
import { createLiveState, type Read } from './live-state.ts';

/** The filters of the list of runs; empty: no filter. */
export type RunFilter = {
  readonly workflow: string;
  readonly status: string;
  /** `true`: only runs in which a step waits for approval. */
  readonly waiting: string;
  readonly trigger: string;
  readonly tag: string;
  readonly queue: string;
  /** Text of the id, the parameters or the error. */
  readonly text: string;
  /** The shortest duration, in seconds. */
  readonly minDuration: string;
  /** Timestamps. */
  readonly from: string;
  readonly to: string;
};

/** Runs, newest first, loaded page by page. */
export type RunList = {
  readonly runs: ReadonlySignal<readonly RunHead[] | null>;
  /** The number of runs that were created or began to match since the list was read; they appear on request. */
  readonly fresh: ReadonlySignal<number>;
  readonly hasMore: ReadonlySignal<boolean>;
  /** Whether older runs are being read. */
  readonly isReading: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  /** Reads as many runs again as are loaded, so that a scrolled list stays where it is. */
  readonly reload: () => Promise<void>;
  readonly readMore: () => Promise<void>;
  /** Updates a run, or adds a new one. */
  readonly take: (run: RunHead) => void;
  readonly remove: (runId: string) => void;
  /** Ends the list; returns its runs for another one with the same filter. Null: not read yet. */
  readonly close: () => LoadedRuns | null;
};

/** The runs of a list, and the cursor of those after them. */
export type LoadedRuns = { readonly runs: readonly RunHead[]; readonly cursor: string | null };

const PAGE_SIZE = 100;
/** The limit of runs in one response. */
const MAX_PAGE_SIZE = 500;

/** Creates a list of runs, which is empty or has those of an earlier one. */
export function listRuns(filter: RunFilter, earlier: LoadedRuns | null = null): RunList {
  const runs = signal<readonly RunHead[] | null>(earlier?.runs ?? null);
  const fresh = signal<ReadonlySet<string>>(new Set());
  const freshCount = signal(0);
  const hasMore = signal(earlier !== null && earlier.cursor !== null);
  const isReading = signal(false);
  const problem = signal<ApiProblem | null>(null);
  const state = createLiveState();
  let isClosed = false;
  let cursor = earlier?.cursor ?? null;
  /** Incremented by each reading from the start, which makes earlier readings obsolete. */
  let reading = 0;
  const readPage = async (after: string | null, isCurrent: () => boolean, { apply }: Read) => {
    const size = after === null ? Math.max(PAGE_SIZE, Math.min(MAX_PAGE_SIZE, runs.value?.length ?? 0)) : PAGE_SIZE;
    const page = await requestPage(filter, after, size);
    if (!isCurrent()) return null;
    apply(() => {
      runs.value = [...(after === null ? [] : (runs.value ?? [])), ...page.runs];
      if (after === null) note(new Set());
      cursor = page.nextCursor;
      hasMore.value = cursor !== null;
    });
    problem.value = null;
    return page;
  };
  /** A response without runs can have a cursor: the daemon reads a limited number of runs for each response. */
  const read = async (after: string | null) => {
    const own = after === null ? ++reading : reading;
    const isCurrent = () => own === reading && !isClosed;
    isReading.value = true;
    try {
      let next = after;
      do {
        const from = next;
        const page = await state.read((each) => readPage(from, isCurrent, each));
        if (page === null) return;
        next = page.runs.length > 0 ? null : page.nextCursor;
      } while (next !== null);
    } catch (error) {
      if (isCurrent()) problem.value = ApiProblem.of(error);
    }
    if (own === reading) isReading.value = false;
  };
  const note = (ids: ReadonlySet<string>) => {
    fresh.value = ids;
    freshCount.value = ids.size;
  };
  /** Whether a run would be among the loaded ones; it is not new if it is older. */
  const isInReach = ({ createdAt }: RunHead) => !hasMore.value || createdAt > (runs.value?.at(-1)?.createdAt ?? '');
  const take = (run: RunHead) => {
    const known = runs.value?.findIndex(({ runId }) => runId === run.runId) ?? -1;
    if (known !== -1) runs.value = runs.value?.with(known, run) ?? null;
    else if (!isWanted(run, filter)) forget(run.runId);
    else if (isInReach(run)) note(new Set([...fresh.value, run.runId]));
  };
  const forget = (runId: string) => {
    if (fresh.value.has(runId)) note(new Set([...fresh.value].filter((id) => id !== runId)));
  };
  const remove = (runId: string) => {
    runs.value = runs.value?.filter((run) => run.runId !== runId) ?? null;
    forget(runId);
  };
  return {
    runs,
    fresh: freshCount,
    hasMore,
    isReading,
    problem,
    reload: () => read(null),
    readMore: async () => {
      if (!isReading.value && cursor !== null) await read(cursor);
    },
    take: (run) => state.change(() => take(run)),
    remove: (runId) => state.change(() => remove(runId)),
    close: () => {
      isClosed = true;
      return runs.value && { runs: runs.value, cursor };
    },
  };
}

type Page = { readonly runs: readonly RunHead[]; readonly nextCursor: string | null };

/** Requests a page; `after`: the cursor of the previous one, null for the first. */
async function requestPage(filter: RunFilter, after: string | null, limit: number): Promise<Page> {
  const given = Object.entries({ ...filter, cursor: after ?? '' }).filter(([, value]) => value !== '');
  const query = { ...Object.fromEntries(given), limit, partial: true };
  return ask(api.GET('/api/v2/runs', { params: { query } }));
}

/** Whether a run matches a filter, by the same rules as the daemon. */
function isWanted(run: RunHead, filter: RunFilter): boolean {
  const created = Date.parse(run.createdAt);
  const text = filter.text.toLowerCase();
  return (
    (filter.workflow === '' || run.workflow === filter.workflow) &&
    (filter.status === '' || filter.status.split(',').includes(run.status)) &&
    (filter.waiting === '' || run.waitingFor !== undefined) &&
    (filter.trigger === '' || filter.trigger.split(',').includes(run.trigger)) &&
    (filter.tag === '' || hasTag(run.tags ?? [], filter.tag)) &&
    (filter.queue === '' || run.queue === filter.queue) &&
    (text === '' || textOf(run).includes(text)) &&
    (filter.minDuration === '' || (run.durationMs ?? 0) >= 1000 * Number(filter.minDuration)) &&
    (filter.from === '' || created >= Date.parse(filter.from)) &&
    (filter.to === '' || created <= Date.parse(filter.to))
  );
}

function textOf({ runId, params, error }: RunHead): string {
  return [runId, ...params.map(({ name, value }) => (name === null ? value : `${name}=${value}`)), error ?? '']
    .join('\n')
    .toLowerCase();
}

export type BatchAction = 'stop' | 'retry' | 'delete';

/** The outcome of an action on one run: an error message, or null; `runId`: the new run of a retry. */
type Outcome = { readonly error: string | null; readonly runId: string | null };

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
