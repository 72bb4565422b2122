import { computed, signal } from '@preact/signals';
import type {
  DaemonConfig,
  DaemonInfo,
  DaemonSchedule,
  Lock,
  QueueEvent,
  RunHead,
  RunQueue,
} from '#run-view/api/types.ts';
import { api, ask } from '../api/client.ts';
import { LiveState, type Read } from './live-state.ts';
import { createResource, type Known, type Resource } from './resource.ts';

/** The daemon with its queue, schedule and settings. */
export type ShownSystem = {
  readonly info: DaemonInfo;
  readonly queue: RunQueue;
  readonly locks: readonly Lock[];
  readonly schedule: DaemonSchedule;
  readonly config: DaemonConfig;
};

/** Number of new runs that are kept until the queue contains them. */
const MAX_NEW_RUNS = 1000;

/** The state of the daemon: it is read, then events of the stream replace the parts that change. */
export class System {
  readonly #info = signal<DaemonInfo | null>(null);
  readonly #queue = signal<RunQueue | null>(null);
  readonly #locks = signal<readonly Lock[]>([]);
  readonly #schedule = signal<DaemonSchedule | null>(null);
  readonly #config: Resource<DaemonConfig>;
  readonly #fresh = new Map<string, RunHead>();
  readonly #state = new LiveState();
  readonly known = computed((): Known<ShownSystem> => {
    const { value: config, problem } = this.#config.known.value;
    const [info, queue, schedule] = [this.#info.value, this.#queue.value, this.#schedule.value];
    if (config === null || info === null || queue === null || schedule === null) return { value: null, problem };
    return { value: { info, queue, locks: this.#locks.value, schedule, config }, problem };
  });

  /** `first`: the state until it is read. */
  constructor(first: ShownSystem | null = null) {
    this.#info.value = first?.info ?? null;
    this.#queue.value = first?.queue ?? null;
    this.#locks.value = first?.locks ?? [];
    this.#schedule.value = first?.schedule ?? null;
    this.#config = createResource(() => this.#state.read((read) => this.#load(read)), first?.config ?? null);
  }

  readonly refresh = (): Promise<void> => this.#config.refresh();

  /** Reads only what no event announces: the event loop, the disk and the locks. */
  readonly refreshFigures = async (): Promise<void> => {
    try {
      const [info, { locks }] = await Promise.all([ask(api.GET('/api/v2/info')), ask(api.GET('/api/v2/locks'))]);
      this.#info.value = info;
      this.#locks.value = locks;
    } catch {
      // The last figures stay; the bar above every screen reports a daemon that does not answer.
    }
  };

  readonly takeRun = (run: RunHead): void => {
    this.#fresh.delete(run.runId);
    this.#fresh.set(run.runId, run);
    for (const [oldest] of this.#fresh) if (this.#fresh.size > MAX_NEW_RUNS) this.#fresh.delete(oldest);
    this.#state.change(() => (this.#queue.value = withRun(this.#queue.value, run)));
  };

  readonly takeQueue = ({ limit, running, waiting }: QueueEvent): void => {
    const heads = this.#heads();
    this.#state.change(() => {
      const all = new Map([...heads, ...this.#heads()]);
      const listed = (runIds: readonly string[]) => runIds.flatMap((runId) => all.get(runId) ?? []);
      this.#queue.value = { limit, running: listed(running), waiting: listed(waiting) };
    });
    if ([...running, ...waiting].some((runId) => !heads.has(runId))) void this.refresh();
  };

  readonly takeSchedule = (next: DaemonSchedule): void => this.#state.change(() => (this.#schedule.value = next));

  async #load({ apply }: Read): Promise<DaemonConfig> {
    const [info, queue, { locks }, schedule, config] = await Promise.all([
      ask(api.GET('/api/v2/info')),
      ask(api.GET('/api/v2/queue')),
      ask(api.GET('/api/v2/locks')),
      ask(api.GET('/api/v2/schedule')),
      ask(api.GET('/api/v2/config')),
    ]);
    apply(() => {
      this.#info.value = info;
      this.#queue.value = queue;
      this.#locks.value = locks;
      this.#schedule.value = schedule;
    });
    return config;
  }

  #heads(): ReadonlyMap<string, RunHead> {
    const { running = [], waiting = [] } = this.#queue.value ?? {};
    return new Map([...this.#fresh, ...[...running, ...waiting].map((run) => [run.runId, run] as const)]);
  }
}

function withRun(queue: RunQueue | null, run: RunHead): RunQueue | null {
  const replace = (runs: readonly RunHead[]) => runs.map((each) => (each.runId === run.runId ? run : each));
  return queue && { ...queue, running: replace(queue.running), waiting: replace(queue.waiting) };
}
