import { type ReadonlySignal, signal } from '@preact/signals';
import { hasTag } from '#core/tags.ts';
import type { RunHead } from '#run-view/api/types.ts';
import { api, ask } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
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
