import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { DaemonConfig, DaemonInfo, DaemonSchedule, QueueEvent, RunHead, RunQueue } from '#run-view/api/types.ts';
import { api, ask } from '../api/client.ts';
import { createLiveState, type Read } from './live-state.ts';
import { createResource, type Known } from './resource.ts';

/** The daemon with its queue, schedule and settings. */
export type ShownSystem = {
  readonly info: DaemonInfo;
  readonly queue: RunQueue;
  readonly schedule: DaemonSchedule;
  readonly config: DaemonConfig;
};

type System = {
  readonly known: ReadonlySignal<Known<ShownSystem>>;
  readonly refresh: () => Promise<void>;
  /** Reads only the figures that no event announces: the event loop and the disk. */
  readonly refreshFigures: () => Promise<void>;
  readonly takeRun: (run: RunHead) => void;
  readonly takeQueue: (event: QueueEvent) => void;
  readonly takeSchedule: (schedule: DaemonSchedule) => void;
};

/** Number of new runs that are kept until the queue contains them. */
const MAX_NEW_RUNS = 1000;

/** Creates the state, with `first` until it is loaded. Afterwards events of the stream replace the parts that change. */
export function createSystem(first: ShownSystem | null = null): System {
  const info = signal<DaemonInfo | null>(first?.info ?? null);
  const queue = signal<RunQueue | null>(first?.queue ?? null);
  const schedule = signal<DaemonSchedule | null>(first?.schedule ?? null);
  const fresh = new Map<string, RunHead>();
  const state = createLiveState();
  const load = async ({ apply }: Read) => {
    const answers = await Promise.all([
      ask(api.GET('/api/v2/info')),
      ask(api.GET('/api/v2/queue')),
      ask(api.GET('/api/v2/schedule')),
      ask(api.GET('/api/v2/config')),
    ]);
    const [newInfo, newQueue, newSchedule, config] = answers;
    apply(() => {
      info.value = newInfo;
      queue.value = newQueue;
      schedule.value = newSchedule;
    });
    return config;
  };
  const resource = createResource<DaemonConfig>(() => state.read(load), first?.config ?? null);
  const known = computed(() => {
    const { value: config, problem } = resource.known.value;
    if (config === null || info.value === null || queue.value === null || schedule.value === null)
      return { value: null, problem };
    return { value: { info: info.value, queue: queue.value, schedule: schedule.value, config }, problem };
  });
  const keepNew = (run: RunHead) => {
    fresh.delete(run.runId);
    fresh.set(run.runId, run);
    for (const [oldest] of fresh) if (fresh.size > MAX_NEW_RUNS) fresh.delete(oldest);
  };
  const knownHeads = () => new Map([...fresh, ...headsOf(queue.value)]);
  return {
    known,
    refresh: resource.refresh,
    refreshFigures: async () => {
      try {
        info.value = await ask(api.GET('/api/v2/info'));
      } catch {
        // The last figures stay; the bar above every screen reports a daemon that does not answer.
      }
    },
    takeRun: (run) => {
      keepNew(run);
      state.change(() => {
        queue.value = withRun(queue.value, run);
      });
    },
    takeQueue: ({ limit, running, waiting }) => {
      const heads = knownHeads();
      state.change(() => {
        const all = new Map([...heads, ...knownHeads()]);
        const listed = (runIds: readonly string[]) => runIds.flatMap((runId) => all.get(runId) ?? []);
        queue.value = { limit, running: listed(running), waiting: listed(waiting) };
      });
      if ([...running, ...waiting].some((runId) => !heads.has(runId))) void resource.refresh();
    },
    takeSchedule: (next) =>
      state.change(() => {
        schedule.value = next;
      }),
  };
}

function headsOf(queue: RunQueue | null): readonly (readonly [string, RunHead])[] {
  return [...(queue?.running ?? []), ...(queue?.waiting ?? [])].map((run) => [run.runId, run]);
}

/** Replaces a run of the queue. */
function withRun(queue: RunQueue | null, run: RunHead): RunQueue | null {
  const replace = (runs: readonly RunHead[]) => runs.map((each) => (each.runId === run.runId ? run : each));
  return queue && { ...queue, running: replace(queue.running), waiting: replace(queue.waiting) };
}
