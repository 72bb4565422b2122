import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { LogSize, RunHead, RunSummary, RunView, StepView } from '#run-view/api/types.ts';
import { ApiProblem, api, ask, askTagged } from '../api/client.ts';
import { followLive } from './live.ts';
import { createLiveState, type Read } from './live-state.ts';
import { isActive } from './workflows/workflow-filter.ts';

/** A displayed run: each part changes by itself, so that an update redraws that part only. */
export type ShownRun = {
  /** The parts that stay the same while the run is running, or the problem if the run does not exist. */
  readonly view: ReadonlySignal<RunView | null>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  /** Updated together with `steps`. */
  readonly head: ReadonlySignal<RunHead | null>;
  readonly warnings: ReadonlySignal<readonly string[]>;
  /** Handlers that the run has reached, by name. */
  readonly handlers: ReadonlySignal<readonly string[]>;
  readonly step: (name: string) => Signal<StepView | null>;
  /** All steps, then the handlers, updated at most four times a second. */
  readonly steps: ReadonlySignal<readonly StepView[]>;
  /** The size of a log of a running attempt. */
  readonly logSize: (log: Omit<LogSize, 'runId' | 'size'>) => Signal<number | null>;
  /**
   * The sub-runs that wait for approval, with the step or instance that started them; null for a sub-run of a sub-run,
   * which only a run that is not a sub-run itself has here.
   */
  readonly waitingSubRuns: ReadonlySignal<readonly { readonly step: string | null; readonly run: RunHead }[]>;
  readonly reload: () => Promise<void>;
  /** Follows the run until the returned function is called. */
  readonly follow: () => () => void;
};

/** Delay before the head and the list of all steps are updated, in milliseconds. */
const SUMMARY_MS = 250;

/** Delay before the first view is requested again after a temporary problem, in milliseconds. */
const RETRY_MS = 1000;

/** Creates the state of a run from its id, before anything is loaded. */
export function showRun(id: string): ShownRun {
  const view = signal<RunView | null>(null);
  const problem = signal<ApiProblem | null>(null);
  const head = signal<RunHead | null>(null);
  const warnings = signal<readonly string[]>([]);
  const handlers = signal<readonly string[]>([]);
  const steps = keyed<StepView>();
  const sizes = keyed<number>();
  const summary = signal<readonly StepView[]>([]);
  const waiting = waitingRuns();
  const state = createLiveState();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newestHead: RunHead | null = null;
  let cursor = '';
  // The events of a run and of its steps arrive one after another, and describe one state only together.
  const summarize = () => {
    timer = undefined;
    const names = [...(view.value?.steps.map(({ name }) => name) ?? []), ...handlers.value];
    batch(() => {
      head.value = newestHead;
      summary.value = names.flatMap((name) => steps(name).peek() ?? []);
    });
  };
  const summarizeSoon = () => {
    timer ??= setTimeout(summarize, SUMMARY_MS);
  };
  const take = (step: StepView) => {
    steps(step.name).value = step;
    const isHandler = step.name.startsWith('handlerOn.');
    if (isHandler && !handlers.value.includes(step.name)) handlers.value = [...handlers.value, step.name];
    summarizeSoon();
  };
  const show = (loaded: RunView, read: Read) =>
    batch(() => {
      read.apply(() => {
        view.value = loaded;
        newestHead = loaded.run;
        warnings.value = loaded.warnings;
        handlers.value = loaded.handlers.map(({ name }) => name);
        for (const step of [...loaded.steps, ...loaded.handlers]) steps(step.name).value = step;
        problem.value = null;
      });
      summarize();
    });
  const load = async (read: Read) => {
    try {
      const answer = await askTagged(api.GET('/api/v2/runs/{id}/view', { params: { path: { id } } }));
      const loaded = answer.data;
      cursor = answer.cursor;
      show(loaded, read);
      if (read.isObsolete()) return;
      if (isActive(loaded.run.status) && summary.value.some((step) => childrenOf(step).length > 0))
        await waiting.load();
    } catch (error) {
      if (!read.isObsolete()) problem.value = ApiProblem.of(error);
    }
  };
  const reload = () => state.read(load);
  const isOwn = (runId: string) => runId === view.value?.run.runId;
  const events = {
    run: (run: RunHead) => {
      if (!isOwn(run.runId)) return waiting.take(run);
      state.change(() => {
        newestHead = run;
        summarizeSoon();
      });
    },
    step: ({ runId, step, partial }: { runId: string; step: StepView; partial?: boolean }) => {
      if (isOwn(runId)) state.change(() => take(partial ? withKnownInstances(step, steps(step.name).peek()) : step));
    },
    warnings: (sent: { runId: string; warnings: string[] }) => {
      if (!isOwn(sent.runId)) return;
      state.change(() => {
        warnings.value = sent.warnings;
      });
    },
    log: ({ runId, size, ...log }: LogSize) => {
      if (isOwn(runId)) sizes(logKey(log)).value = size;
    },
  };
  return {
    view,
    problem,
    head,
    warnings,
    handlers,
    step: steps,
    steps: summary,
    waitingSubRuns: computed(() => {
      const known = waiting.runs.value;
      if (known.size === 0) return [];
      const own = summary.value.flatMap(childrenOf).flatMap(({ step, child }) => {
        const found = known.get(child);
        return found === undefined ? [] : [{ step, run: found }];
      });
      const others = [...known.values()].filter(({ runId }) => !own.some(({ run }) => run.runId === runId));
      return [...own, ...others.filter((run) => isDescendant(run, head.value)).map((run) => ({ step: null, run }))];
    }),
    logSize: (log) => sizes(logKey(log)),
    reload,
    follow: () => {
      let stop: (() => void) | null = null;
      let retry: ReturnType<typeof setTimeout> | undefined;
      let isOver = false;
      const loadFirst = async () => {
        await reload();
        if (!isOver && view.value === null && isTemporary(problem.value)) retry = setTimeout(loadFirst, RETRY_MS);
      };
      // A run that does not exist has no stream either. It may exist when the user retries.
      const forget = view.subscribe((known) => {
        if (known !== null) stop ??= followLive(known.run.runId, events, () => void reload(), cursor);
      });
      void loadFirst();
      return () => {
        isOver = true;
        clearTimeout(timer);
        clearTimeout(retry);
        forget();
        stop?.();
      };
    },
  };
}

/** Whether the daemon did not answer, or could not. */
function isTemporary(problem: ApiProblem | null): boolean {
  return problem !== null && (problem.status === 0 || problem.status >= 500);
}

/** The sub-runs of a step and of its instances. */
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

/** Sub-runs in which a step waits for approval, by id. */
type WaitingRuns = {
  readonly runs: ReadonlySignal<ReadonlyMap<string, RunHead>>;
  /** Adds, updates or removes a run. */
  readonly take: (run: RunHead) => void;
  /** Reads the runs that wait now. Throws an `ApiProblem`. */
  readonly load: () => Promise<void>;
};

/** Further waiting runs are not read; their later changes are received. */
const MAX_RUNS = 500;

/** Creates an empty list of waiting sub-runs. */
export function waitingRuns(): WaitingRuns {
  const runs = signal<ReadonlyMap<string, RunHead>>(new Map());
  const state = createLiveState();
  const take = (run: RunHead) => {
    if (run.waitingFor !== undefined && run.trigger === 'workflow') {
      runs.value = new Map([...runs.value, [run.runId, run]]);
    } else if (runs.value.has(run.runId)) {
      runs.value = new Map([...runs.value].filter(([id]) => id !== run.runId));
    }
  };
  return {
    runs,
    take: (run) => state.change(() => take(run)),
    load: () =>
      state.read(async ({ apply }) => {
        const query = { waiting: true, trigger: 'workflow', limit: MAX_RUNS };
        const found = await ask(api.GET('/api/v2/runs', { params: { query } }));
        apply(() => {
          runs.value = new Map(found.runs.map((run) => [run.runId, run]));
        });
      }),
  };
}

/** Finished runs of a workflow before a run, newest first, and the one to compare with; null if there is none. */
type Earlier = { readonly runs: readonly RunHead[]; readonly chosen: RunSummary | null };

/** The limit of earlier runs. */
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
