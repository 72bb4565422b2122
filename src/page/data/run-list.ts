import { computed, signal } from '@preact/signals';
import { hasTag } from '#core/tags.ts';
import type { RunHead } from '#run-view/api/types.ts';
import { ApiProblem, api, ask } from '../api/client.ts';
import { LiveState, type Read } from './live-state.ts';

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
  readonly minDuration: string;
  readonly from: string;
  readonly to: string;
};

/** The runs of a list, and the cursor of those after them. */
export type LoadedRuns = { readonly runs: readonly RunHead[]; readonly cursor: string | null };

const PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 500;

/** Runs, newest first, loaded page by page. */
export class RunList {
  readonly runs = signal<readonly RunHead[] | null>(null);
  readonly hasMore = signal(false);
  readonly isReading = signal(false);
  readonly problem = signal<ApiProblem | null>(null);
  /** The number of runs that were created or began to match since the list was read; they appear on request. */
  readonly fresh = computed(() => this.#fresh.value.size);
  readonly #fresh = signal<ReadonlySet<string>>(new Set());
  readonly #filter: RunFilter;
  readonly #state = new LiveState();
  #isClosed = false;
  #cursor: string | null = null;
  /** Incremented by each reading from the start, which makes earlier readings obsolete. */
  #reading = 0;

  constructor(filter: RunFilter, earlier: LoadedRuns | null = null) {
    this.#filter = filter;
    if (earlier === null) return;
    this.runs.value = earlier.runs;
    this.#cursor = earlier.cursor;
    this.hasMore.value = earlier.cursor !== null;
  }

  /** Reads as many runs again as are loaded, so that a scrolled list stays where it is. */
  readonly reload = (): Promise<void> => this.#read(null);

  readonly readMore = async (): Promise<void> => {
    if (!this.isReading.value && this.#cursor !== null) await this.#read(this.#cursor);
  };

  /** Updates a run, or adds a new one. */
  readonly take = (run: RunHead): void => this.#state.change(() => this.#take(run));

  readonly remove = (runId: string): void =>
    this.#state.change(() => {
      this.runs.value = this.runs.value?.filter((run) => run.runId !== runId) ?? null;
      this.#forget(runId);
    });

  /** Ends the list; returns its runs for another one with the same filter. Null: not read yet. */
  close(): LoadedRuns | null {
    this.#isClosed = true;
    return this.runs.value && { runs: this.runs.value, cursor: this.#cursor };
  }

  /** A response without runs can have a cursor: the daemon reads a limited number of runs for each response. */
  async #read(after: string | null): Promise<void> {
    const own = after === null ? ++this.#reading : this.#reading;
    const isCurrent = () => own === this.#reading && !this.#isClosed;
    this.isReading.value = true;
    try {
      let next = after;
      do {
        const from = next;
        const page = await this.#state.read((each) => this.#readPage(from, isCurrent, each));
        if (page === null) return;
        next = page.runs.length > 0 ? null : page.nextCursor;
      } while (next !== null);
    } catch (error) {
      if (isCurrent()) this.problem.value = ApiProblem.of(error);
    }
    if (own === this.#reading) this.isReading.value = false;
  }

  /** `after`: the cursor of the previous page, null for the first. */
  async #readPage(after: string | null, isCurrent: () => boolean, { apply }: Read): Promise<Page | null> {
    const count = after === null ? Math.min(MAX_PAGE_SIZE, this.runs.value?.length ?? 0) : 0;
    const given = Object.entries({ ...this.#filter, cursor: after ?? '' }).filter(([, value]) => value !== '');
    const query = { ...Object.fromEntries(given), limit: Math.max(PAGE_SIZE, count), partial: true };
    const page: Page = await ask(api.GET('/api/v2/runs', { params: { query } }));
    if (!isCurrent()) return null;
    apply(() => {
      this.runs.value = [...(after === null ? [] : (this.runs.value ?? [])), ...page.runs];
      if (after === null) this.#fresh.value = new Set();
      this.#cursor = page.nextCursor;
      this.hasMore.value = page.nextCursor !== null;
    });
    this.problem.value = null;
    return page;
  }

  #take(run: RunHead): void {
    const known = this.runs.value?.findIndex(({ runId }) => runId === run.runId) ?? -1;
    if (known !== -1) this.runs.value = this.runs.value?.with(known, run) ?? null;
    else if (!isWanted(run, this.#filter)) this.#forget(run.runId);
    else if (this.#isInReach(run)) this.#fresh.value = new Set([...this.#fresh.value, run.runId]);
  }

  /** Whether a run would be among the loaded ones; it is not new if it is older. */
  #isInReach({ createdAt }: RunHead): boolean {
    return !this.hasMore.value || createdAt > (this.runs.value?.at(-1)?.createdAt ?? '');
  }

  #forget(runId: string): void {
    if (this.#fresh.value.has(runId)) this.#fresh.value = new Set([...this.#fresh.value].filter((id) => id !== runId));
  }
}

type Page = { readonly runs: readonly RunHead[]; readonly nextCursor: string | null };

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

/** An action on several runs. */
export type BatchAction = 'stop' | 'retry' | 'delete';

/** The outcome of an action on one run: an error message, or null; `runId`: the new run of a retry. */
type Outcome = { readonly error: string | null; readonly runId: string | null };

/** The limit of runs in one request. */
const MAX_RUNS = 500;

/** The selected runs, and the last action on them. */
export class RunBatch {
  readonly chosen = signal<ReadonlySet<string>>(new Set());
  readonly outcomes = signal<ReadonlyMap<string, Outcome>>(new Map());
  readonly isPending = signal(false);
  readonly problem = signal<ApiProblem | null>(null);
  readonly #action = signal<BatchAction | null>(null);
  /** Null before the first action, and while one is pending. */
  readonly done = computed(() => {
    const action = this.#action.value;
    if (action === null || this.isPending.value) return null;
    const all = [...this.outcomes.value.values()];
    return { action, count: all.length, failed: all.filter(({ error }) => error !== null).length };
  });
  #last: string | null = null;

  /** Selects or deselects a run; with `isRange`, all runs from the last selected one, in list order. */
  toggle(runId: string, list: readonly string[], isRange: boolean): void {
    const next = new Set(this.chosen.value);
    const [from, to] = [list.indexOf(this.#last ?? ''), list.indexOf(runId)].toSorted((a, b) => a - b);
    if (isRange && from !== undefined && from !== -1)
      for (const each of list.slice(from, (to ?? 0) + 1)) next.add(each);
    else if (!next.delete(runId)) next.add(runId);
    this.#last = runId;
    this.chosen.value = next;
  }

  clear(): void {
    this.chosen.value = new Set();
  }

  async act(action: BatchAction): Promise<void> {
    const ids = [...this.chosen.value];
    this.#action.value = action;
    this.outcomes.value = new Map();
    this.isPending.value = true;
    this.problem.value = null;
    try {
      for (let at = 0; at < ids.length; at += MAX_RUNS) {
        const body = { ids: ids.slice(at, at + MAX_RUNS), action };
        const { results } = await ask(api.POST('/api/v2/runs/batch', { body }));
        const found = results.map(({ id, done, message, runId }): [string, Outcome] => [
          id,
          { error: done ? null : (message ?? 'failed'), runId: done && runId !== id ? runId : null },
        ]);
        this.outcomes.value = new Map([...this.outcomes.value, ...found]);
      }
      // Failed runs stay selected.
      this.chosen.value = new Set(ids.filter((id) => this.outcomes.value.get(id)?.error != null));
    } catch (error) {
      this.problem.value = ApiProblem.of(error);
    } finally {
      this.isPending.value = false;
    }
  }
}
