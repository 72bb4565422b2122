import { type ReadonlySignal, signal } from '@preact/signals';
import { api, ask } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import type { RunHead } from '../api/types.ts';

/** What the list of runs is narrowed to; empty: everything. */
export type RunFilter = {
  readonly workflow: string;
  readonly status: string;
  readonly from: string;
  readonly to: string;
};

/** Runs, newest first, of which more and more are read. */
export type RunList = {
  readonly runs: ReadonlySignal<readonly RunHead[] | null>;
  /** Runs that were made since the list was read; they wait until they are asked for. */
  readonly fresh: ReadonlySignal<number>;
  readonly hasMore: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  readonly reload: () => Promise<void>;
  readonly readMore: () => Promise<void>;
  /** A run as it is now, or a new one. */
  readonly take: (run: RunHead) => void;
  readonly remove: (runId: string) => void;
};

const PAGE_SIZE = 100;

/** A list of runs, before any is read. */
export function listRuns(filter: RunFilter): RunList {
  const runs = signal<readonly RunHead[] | null>(null);
  const fresh = signal<ReadonlySet<string>>(new Set());
  const freshCount = signal(0);
  const hasMore = signal(false);
  const problem = signal<ApiProblem | null>(null);
  let cursor: string | null = null;
  const read = async (after: string | null) => {
    const given = Object.entries({ ...filter, cursor: after ?? '' }).filter(([, value]) => value !== '');
    const query = { ...Object.fromEntries(given), limit: PAGE_SIZE };
    try {
      const page = await ask(api.GET('/api/v2/runs', { params: { query } }));
      runs.value = [...(after === null ? [] : (runs.value ?? [])), ...page.runs];
      cursor = page.nextCursor;
      hasMore.value = cursor !== null;
      problem.value = null;
      if (after === null) note(new Set());
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
  };
  const note = (ids: ReadonlySet<string>) => {
    fresh.value = ids;
    freshCount.value = ids.size;
  };
  const isWanted = (run: RunHead) =>
    (filter.workflow === '' || run.workflow === filter.workflow) &&
    (filter.status === '' || filter.status.split(',').includes(run.status)) &&
    (filter.from === '' || Date.parse(run.createdAt) >= Date.parse(filter.from)) &&
    (filter.to === '' || Date.parse(run.createdAt) <= Date.parse(filter.to));
  const isNewest = ({ createdAt }: RunHead) => createdAt >= (runs.value?.[0]?.createdAt ?? '');
  return {
    runs,
    fresh: freshCount,
    hasMore,
    problem,
    reload: () => read(null),
    readMore: () => read(cursor),
    take: (run) => {
      const known = runs.value?.findIndex(({ runId }) => runId === run.runId) ?? -1;
      if (known !== -1) runs.value = runs.value?.with(known, run) ?? null;
      else if (isWanted(run) && isNewest(run)) note(new Set([...fresh.value, run.runId]));
    },
    remove: (runId) => {
      runs.value = runs.value?.filter((run) => run.runId !== runId) ?? null;
    },
  };
}
