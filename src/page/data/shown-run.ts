import { batch, computed, type Signal, signal } from '@preact/signals';
import type { LogSize, RunHead, RunSummary, RunView, StepView } from '#run-view/api/types.ts';
import { ApiProblem, api, ask, askTagged } from '../api/client.ts';
import { followLive } from './live.ts';
import { LiveState, type Read } from './live-state.ts';
import { isActive } from './workflows/workflow-filter.ts';

/** Delay before the head and the list of all steps are updated, in milliseconds. */
const SUMMARY_MS = 250;

/** Delay before the first view is requested again after a temporary problem, in milliseconds. */
const RETRY_MS = 1000;

/** A displayed run: each part changes by itself, so that an update redraws that part only. */
export class ShownRun {
  /** The parts that stay the same while the run is running. */
  readonly view = signal<RunView | null>(null);
  readonly problem = signal<ApiProblem | null>(null);
  /** Updated together with `steps`. */
  readonly head = signal<RunHead | null>(null);
  readonly warnings = signal<readonly string[]>([]);
  /** Handlers that the run has reached, by name. */
  readonly handlers = signal<readonly string[]>([]);
  readonly step = keyed<StepView>();
  /** All steps, then the handlers, updated at most four times a second. */
  readonly steps = signal<readonly StepView[]>([]);
  /** The sub-runs that wait for approval, and the step that started each; null in a sub-run of a sub-run. */
  readonly waitingSubRuns = computed(() => {
    const known = this.#waiting.runs.value;
    if (known.size === 0) return [];
    const own = this.steps.value.flatMap(childrenOf).flatMap(({ step, child }) => {
      const found = known.get(child);
      return found === undefined ? [] : [{ step, run: found }];
    });
    const others = [...known.values()].filter(({ runId }) => !own.some(({ run }) => run.runId === runId));
    return [...own, ...others.filter((run) => isDescendant(run, this.head.value)).map((run) => ({ step: null, run }))];
  });
  readonly #id: string;
  readonly #sizes = keyed<number>();
  readonly #waiting = new WaitingRuns();
  readonly #state = new LiveState();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #newestHead: RunHead | null = null;
  #cursor = '';

  constructor(id: string) {
    this.#id = id;
  }

  logSize(log: Omit<LogSize, 'runId' | 'size'>): Signal<number | null> {
    return this.#sizes(logKey(log));
  }

  readonly reload = (): Promise<void> => this.#state.read((read) => this.#load(read));

  /** Follows the run until the returned function is called. */
  follow(): () => void {
    let stop: (() => void) | null = null;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const loadFirst = async () => {
      await this.reload();
      // The daemon did not answer, or could not.
      const { status } = this.problem.value ?? { status: 404 };
      if (!isOver && this.view.value === null && (status === 0 || status >= 500))
        retry = setTimeout(loadFirst, RETRY_MS);
    };
    // A run that does not exist has no stream either. It may exist when the user retries.
    const forget = this.view.subscribe((known) => {
      if (known !== null) stop ??= followLive(known.run.runId, this.#events, () => void this.reload(), this.#cursor);
    });
    void loadFirst();
    return () => {
      isOver = true;
      clearTimeout(this.#timer);
      clearTimeout(retry);
      forget();
      stop?.();
    };
  }

  readonly #events = {
    run: (run: RunHead) => {
      if (!this.#isOwn(run.runId)) return this.#waiting.take(run);
      this.#state.change(() => {
        this.#newestHead = run;
        this.#summarizeSoon();
      });
    },
    step: ({ runId, step, partial }: { runId: string; step: StepView; partial?: boolean }) => {
      if (this.#isOwn(runId))
        this.#state.change(() => this.#take(partial ? withKnownInstances(step, this.step(step.name).peek()) : step));
    },
    warnings: ({ runId, warnings }: { runId: string; warnings: string[] }) => {
      if (this.#isOwn(runId)) this.#state.change(() => (this.warnings.value = warnings));
    },
    log: ({ runId, size, ...log }: LogSize) => {
      if (this.#isOwn(runId)) this.#sizes(logKey(log)).value = size;
    },
  };

  #isOwn(runId: string): boolean {
    return runId === this.view.value?.run.runId;
  }

  #take(step: StepView): void {
    this.step(step.name).value = step;
    const known = this.handlers.value;
    if (step.name.startsWith('handlerOn.') && !known.includes(step.name)) this.handlers.value = [...known, step.name];
    this.#summarizeSoon();
  }

  /** The events of a run and of its steps arrive one after another, and describe one state only together. */
  #summarize(): void {
    this.#timer = undefined;
    const names = [...(this.view.value?.steps.map(({ name }) => name) ?? []), ...this.handlers.value];
    batch(() => {
      this.head.value = this.#newestHead;
      this.steps.value = names.flatMap((name) => this.step(name).peek() ?? []);
    });
  }

  #summarizeSoon(): void {
    this.#timer ??= setTimeout(() => this.#summarize(), SUMMARY_MS);
  }

  async #load(read: Read): Promise<void> {
    try {
      const answer = await askTagged(api.GET('/api/v2/runs/{id}/view', { params: { path: { id: this.#id } } }));
      this.#cursor = answer.cursor;
      this.#show(answer.data, read);
      if (read.isObsolete()) return;
      const hasChildren = this.steps.value.some((step) => childrenOf(step).length > 0);
      if (hasChildren && isActive(answer.data.run.status)) await this.#waiting.load();
    } catch (error) {
      if (!read.isObsolete()) this.problem.value = ApiProblem.of(error);
    }
  }

  #show(loaded: RunView, read: Read): void {
    batch(() => {
      read.apply(() => {
        this.view.value = loaded;
        this.#newestHead = loaded.run;
        this.warnings.value = loaded.warnings;
        this.handlers.value = loaded.handlers.map(({ name }) => name);
        for (const step of [...loaded.steps, ...loaded.handlers]) this.step(step.name).value = step;
        this.problem.value = null;
      });
      this.#summarize();
    });
  }
}

function childrenOf(step: StepView): readonly { readonly step: string; readonly child: string }[] {
  return [step, ...(step.items ?? [])].flatMap(({ name, child }) =>
    child === undefined ? [] : [{ step: name, child }],
  );
}

/** Whether a sub-run belongs to a run that is not a sub-run: one process carries a run with all its sub-runs. */
function isDescendant({ owner }: RunHead, root: RunHead | null): boolean {
  if (root === null || root.trigger === 'workflow' || owner === null) return false;
  return owner.pid === root.owner?.pid && owner.host === root.owner.host;
}

/** Adds the known instances to a fan-out whose `items` are the changed ones only. */
function withKnownInstances(step: StepView, known: StepView | null): StepView {
  if (known?.items === undefined) return step;
  const items = [...known.items];
  for (const item of step.items ?? []) items[item.index] = item;
  return { ...step, items };
}

function logKey({ step, attempt, stream }: Omit<LogSize, 'runId' | 'size'>): string {
  return JSON.stringify([step, attempt, stream]);
}

/** Signals by name, created on first use. */
function keyed<T>(): (key: string) => Signal<T | null> {
  const known = new Map<string, Signal<T | null>>();
  return (key) => {
    const found = known.get(key) ?? signal<T | null>(null);
    known.set(key, found);
    return found;
  };
}

/** Further waiting runs are not read; their later changes are received. */
const MAX_RUNS = 500;

/** Sub-runs in which a step waits for approval, by id. */
export class WaitingRuns {
  readonly runs = signal<ReadonlyMap<string, RunHead>>(new Map());
  readonly #state = new LiveState();

  /** Adds, updates or removes a run. */
  take(run: RunHead): void {
    this.#state.change(() => {
      const others = [...this.runs.value].filter(([id]) => id !== run.runId);
      const isWaiting = run.waitingFor !== undefined && run.trigger === 'workflow';
      if (isWaiting) this.runs.value = new Map([...this.runs.value, [run.runId, run]]);
      else if (others.length < this.runs.value.size) this.runs.value = new Map(others);
    });
  }

  /** Reads the runs that wait now. Throws an `ApiProblem`. */
  load(): Promise<void> {
    return this.#state.read(async ({ apply }) => {
      const query = { waiting: true, trigger: 'workflow', limit: MAX_RUNS };
      const { runs } = await ask(api.GET('/api/v2/runs', { params: { query } }));
      apply(() => (this.runs.value = new Map(runs.map((run) => [run.runId, run]))));
    });
  }
}

/** Finished runs of a workflow before a run, newest first, and the one to compare with; null if there is none. */
type Earlier = { readonly runs: readonly RunHead[]; readonly chosen: RunSummary | null };

const MAX_EARLIER = 20;

/** Reads the last finished runs of a workflow before a run. `wanted`: the id of the selected one; empty: the newest. */
export async function readEarlier(head: RunHead, wanted = ''): Promise<Earlier> {
  const { runId, file, workflow, createdAt } = head;
  const query = { workflow: file ?? workflow, to: createdAt, limit: MAX_EARLIER + 1 };
  const page = await ask(api.GET('/api/v2/runs', { params: { query } }));
  const runs = page.runs.filter((run) => run.runId !== runId && !isActive(run.status));
  const id = wanted === '' ? runs[0]?.runId : wanted;
  if (id === undefined) return { runs, chosen: null };
  const chosen = await ask(api.GET('/api/v2/runs/{id}', { params: { path: { id } } }));
  return { runs: runs.some((run) => run.runId === chosen.runId) ? runs : [chosen, ...runs], chosen };
}
