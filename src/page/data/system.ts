import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { api, ask } from '../api/client.ts';
import type { DaemonConfig, DaemonInfo, DaemonSchedule, QueueEvent, RunHead, RunQueue } from '../api/types.ts';
import { createResource, type Known } from './resource.ts';

/** The daemon with its queue, schedule and settings. */
export type ShownSystem = {
  readonly info: DaemonInfo;
  readonly queue: RunQueue;
  readonly schedule: DaemonSchedule;
  readonly config: DaemonConfig;
};

export type System = {
  readonly known: ReadonlySignal<Known<ShownSystem>>;
  readonly refresh: () => Promise<void>;
  readonly takeRun: (run: RunHead) => void;
  readonly takeQueue: (event: QueueEvent) => void;
  readonly takeSchedule: (schedule: DaemonSchedule) => void;
};

/** Number of new runs that are kept until the queue contains them. */
const MAX_NEW_RUNS = 1000;

/** Creates the state before it is loaded. Afterwards events of the stream replace the parts that change. */
export function createSystem(): System {
  const queue = signal<RunQueue | null>(null);
  const schedule = signal<DaemonSchedule | null>(null);
  const fresh = new Map<string, RunHead>();
  const resource = createResource(async () => {
    const [queueBefore, scheduleBefore] = [queue.peek(), schedule.peek()];
    const answers = await Promise.all([
      ask(api.GET('/api/v2/info')),
      ask(api.GET('/api/v2/queue')),
      ask(api.GET('/api/v2/schedule')),
      ask(api.GET('/api/v2/config')),
    ]);
    const [info, newQueue, newSchedule, config] = answers;
    // An event received meanwhile may be newer than the response.
    if (queue.peek() === queueBefore) queue.value = newQueue;
    if (schedule.peek() === scheduleBefore) schedule.value = newSchedule;
    return { info, config };
  });
  const known = computed(() => {
    const { value, problem } = resource.known.value;
    if (value === null || queue.value === null || schedule.value === null) return { value: null, problem };
    return { value: { ...value, queue: queue.value, schedule: schedule.value }, problem };
  });
  return {
    known,
    refresh: resource.refresh,
    takeRun: (run) => {
      const current = queue.value;
      const place = (runs: readonly RunHead[]) => runs.map((each) => (each.runId === run.runId ? run : each));
      if (current !== null)
        queue.value = { ...current, running: place(current.running), waiting: place(current.waiting) };
      fresh.delete(run.runId);
      fresh.set(run.runId, run);
      for (const [oldest] of fresh) if (fresh.size > MAX_NEW_RUNS) fresh.delete(oldest);
    },
    takeQueue: ({ limit, running, waiting }) => {
      const current = queue.value;
      const heads = new Map(fresh);
      for (const run of [...(current?.running ?? []), ...(current?.waiting ?? [])]) heads.set(run.runId, run);
      const headsOf = (runIds: readonly string[]) => runIds.flatMap((runId) => heads.get(runId) ?? []);
      queue.value = { limit, running: headsOf(running), waiting: headsOf(waiting) };
      if ([...running, ...waiting].some((runId) => !heads.has(runId))) void resource.refresh();
    },
    takeSchedule: (next) => {
      schedule.value = next;
    },
  };
}
