import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import type { StoredEvent } from '#core/run/run.ts';
import type { History, PastRun } from '#service/history.ts';
import type {
  AttendedRun,
  Change,
  DaemonStatus,
  LiveChanges,
  NumberedChange,
  RunFeeds,
  ServedWorkflows,
} from '#service/served.ts';
import type { Clock } from '#system/clock.ts';
import { reporting } from '#system/errors.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { RunIndex } from './run-index.ts';

type LiveChangesParts = {
  readonly runIndex: Pick<RunIndex, 'refresh' | 'watch' | 'attend'>;
  readonly catalog: Pick<Catalog, 'watch'>;
  readonly workflows: Pick<ServedWorkflows, 'list' | 'version' | 'suspendedUntil' | 'suspensionStamp' | 'nextOf'>;
  readonly daemon: () => DaemonStatus;
  readonly queue: () => object;
  /** Changes with the next scheduled actions, suspensions apart; null before there is a scheduler. */
  readonly scheduleStamp: () => string | null;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};

/** Changes kept for readers that resume. */
const MAX_CHANGES = 10_000;
const POLL_MS = 250;
/** The delay after a change of files before schedules are compared. */
const SCHEDULE_DELAY_MS = 1000;

/** The changes of a daemon, which reports those that it makes itself. */
export class DaemonChanges implements LiveChanges {
  readonly epoch = randomBytes(6).toString('hex');
  readonly #log = new ChangeLog<Change>(MAX_CHANGES);
  readonly #parts: LiveChangesParts;
  readonly #readers = new Set<() => void>();
  #looking: Promise<void> | null = null;
  #cancelTimer = () => {};
  /** By file; each run has several changes of its workflow. */
  readonly #workflowChanges = new Map<string, Change>();
  /** The last state of the daemon, the queue and the schedule as a text. */
  readonly #known = new Map<string, string>();
  /** By file: whether its schedule is suspended, and its next start. */
  #schedules: ReadonlyMap<string, string> | null = null;
  #schedulesOf = '';
  #schedulesUntil = 0;

  constructor(parts: LiveChangesParts) {
    this.#parts = parts;
    parts.runIndex.watch((runId, file) => {
      if (runId !== null) this.#add(`run ${runId}`, { kind: 'run', runId });
      if (file !== null) this.#addWorkflow(file);
    });
    parts.catalog.watch(({ added, changed, removed }) => {
      const files = [...added, ...changed, ...removed];
      for (const file of new Set([...files, ...this.#namesakes([...added, ...removed])])) this.#addWorkflow(file);
    });
  }

  readonly position = (): number => this.#log.position();

  readonly since = (position: number): readonly NumberedChange<Change>[] | null => this.#log.since(position);

  readonly daemon = (): DaemonStatus => this.#parts.daemon();

  readonly join = async (wake: () => void, attended: AttendedRun | null): Promise<() => void> => {
    const leave = attended === null ? () => {} : this.#parts.runIndex.attend(attended.runId, attended.look);
    this.#readers.add(wake);
    await this.#look();
    return () => {
      leave();
      this.#readers.delete(wake);
      if (this.#readers.size === 0) this.#cancelTimer();
    };
  };

  /** Call after each change of a suspension: the next check may not see one that is undone by then. */
  readonly suspensionChanged = (): void => reporting(this.#parts.report, () => this.#compareSchedules());

  #add(key: string, change: Change): void {
    this.#log.add(key, change);
    for (const wake of this.#readers) wake();
  }

  #addWorkflow(file: string): void {
    const change = this.#workflowChanges.get(file) ?? { kind: 'workflow', file };
    this.#workflowChanges.set(file, change);
    this.#add(`workflow ${file}`, change);
  }

  /** Returns the files with the same name in other directories, whose ids depend on whether these files exist. */
  #namesakes(files: readonly string[]): readonly string[] {
    const names = new Set(files.map((file) => basename(file)));
    if (names.size === 0) return [];
    return this.#parts.workflows.list().flatMap(({ file }) => (names.has(basename(file)) ? [file] : []));
  }

  /** Checks now, and periodically while there are readers. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookNow()
      .catch(this.#parts.report)
      .finally(() => {
        this.#looking = null;
        this.#cancelTimer();
        if (this.#readers.size > 0) {
          const { clock } = this.#parts;
          this.#cancelTimer = clock.setTimer(clock.now() + POLL_MS, () => void this.#look());
        }
      });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    await this.#parts.runIndex.refresh();
    this.#compareSchedules();
    const { daemon, queue, scheduleStamp, workflows } = this.#parts;
    this.#compare('daemon', JSON.stringify(daemon()));
    this.#compare('queue', JSON.stringify(queue()));
    const schedule = scheduleStamp();
    if (schedule !== null) this.#compare('schedule', `${schedule} ${workflows.suspensionStamp()}`);
  }

  #compare(kind: 'daemon' | 'queue' | 'schedule', state: string): void {
    const known = this.#known.get(kind);
    this.#known.set(kind, state);
    if (known !== undefined && known !== state) this.#add(kind, { kind });
  }

  #compareSchedules(): void {
    const { workflows, clock } = this.#parts;
    const key = `${workflows.version()} ${workflows.suspensionStamp()}`;
    if (key === this.#schedulesOf && clock.now() < this.#schedulesUntil) return;
    const before = this.#schedules;
    const { schedules, until } = this.#readSchedules();
    // Only after the read, which may throw: the next check must read again.
    this.#schedules = schedules;
    this.#schedulesOf = key;
    this.#schedulesUntil = until;
    if (before === null) return;
    for (const [file, schedule] of schedules) {
      const known = before.get(file);
      if (known !== undefined && known !== schedule) this.#addWorkflow(file);
    }
  }

  /** Returns the schedules, and the time until which they are valid while no file or suspension changes. */
  #readSchedules(): { readonly schedules: ReadonlyMap<string, string>; readonly until: number } {
    const { workflows, clock } = this.#parts;
    const soon = clock.now() + SCHEDULE_DELAY_MS;
    let validUntil = Number.POSITIVE_INFINITY;
    const schedules = new Map<string, string>();
    for (const listed of workflows.list()) {
      const until = workflows.suspendedUntil(listed.file);
      const next = workflows.nextOf(listed)?.getTime() ?? null;
      const isAwaited = until === null && (listed.workflow?.schedule.start.length ?? 0) > 0;
      if (next !== null || isAwaited) validUntil = Math.min(validUntil, next ?? soon);
      schedules.set(listed.file, `${until} ${next}`);
    }
    return { schedules, until: validUntil };
  }
}

type KeptChange<Change> = NumberedChange<Change> & { readonly key: string };

/** Changes in order, numbered from 1; only the newest `maxChanges` are kept. */
export class ChangeLog<Change> {
  readonly #maxChanges: number;
  #kept: KeptChange<Change>[] = [];
  readonly #newest = new Map<string, KeptChange<Change>>();
  #count = 0;

  constructor(maxChanges: number) {
    this.#maxChanges = maxChanges;
  }

  position(): number {
    return this.#count;
  }

  /** Adds a change. `key` identifies its subject: older changes with the same key are dropped. */
  add(key: string, change: Change): void {
    this.#count += 1;
    // Equal keys are kept as one text: most changes are of the same few workflows.
    const added = { key: this.#newest.get(key)?.key ?? key, change, position: this.#count };
    this.#kept.push(added);
    this.#newest.set(added.key, added);
    // Rare, since it copies the kept changes.
    if (this.#kept.length >= 2 * this.#maxChanges) this.#forget(this.#kept.length - this.#maxChanges);
  }

  /** Returns the changes after a position, one for each key; null if the log no longer goes back to the position. */
  since(position: number): readonly NumberedChange<Change>[] | null {
    const missed = this.#count - position;
    if (missed < 0 || missed > this.#maxChanges) return null;
    if (missed === 0) return [];
    return this.#kept.slice(-missed).flatMap((each) => {
      return this.#newest.get(each.key) === each ? [{ position: each.position, change: each.change }] : [];
    });
  }

  #forget(surplus: number): void {
    for (const each of this.#kept.slice(0, surplus)) {
      if (this.#newest.get(each.key) === each) this.#newest.delete(each.key);
    }
    this.#kept = this.#kept.slice(surplus);
  }
}

const MOST_AT_ONCE = 500;

/** Creates feeds of a history's runs. Runs without a follower use no memory. */
export function createRunFeeds(history: Pick<History, 'follow'>): RunFeeds {
  const feeds = new Map<string, Feed>();
  return {
    follow: async function* (run, afterSeq, signal) {
      const known = feeds.get(run.runId);
      const feed = known?.isGoing() ? known : new Feed(run);
      feeds.set(run.runId, feed);
      const follower = feed.join(afterSeq, history, signal);
      try {
        while (!signal.aborted) {
          const events = feed.take(follower);
          if (events.length > 0) yield events;
          else if (feed.isOver()) return;
          else
            await new Promise<void>((resolve) => {
              follower.wake = resolve;
            });
        }
      } finally {
        if (feed.leave(follower) && feeds.get(run.runId) === feed) feeds.delete(run.runId);
      }
    },
  };
}

/** The number of events that a follower has received, and the function that wakes it. */
type Follower = { position: number; wake: () => void };

class Feed {
  readonly #run: PastRun;
  readonly #events: StoredEvent[];
  readonly #followers = new Set<Follower>();
  readonly #left = new AbortController();
  #state: 'new' | 'going' | 'over' | { readonly error: unknown } = 'new';

  constructor(run: PastRun) {
    this.#run = run;
    this.#events = [...(run.stored?.events ?? [])];
  }

  join(position: number, history: Pick<History, 'follow'>, signal: AbortSignal): Follower {
    const follower = { position, wake: () => {} };
    this.#followers.add(follower);
    signal.addEventListener('abort', () => follower.wake(), { once: true });
    if (this.#state === 'new') void this.#pump(history);
    return follower;
  }

  /** Removes a follower; returns whether it was the last. */
  leave(follower: Follower): boolean {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return false;
    this.#left.abort();
    return true;
  }

  take(follower: Follower): readonly StoredEvent[] {
    const events = this.#events.slice(follower.position, follower.position + MOST_AT_ONCE);
    follower.position += events.length;
    return events;
  }

  isGoing(): boolean {
    return this.#state === 'going';
  }

  /** Whether the feed has ended. Throws the error that ended the reading of the journal. */
  isOver(): boolean {
    if (typeof this.#state === 'object') throw this.#state.error;
    return this.#state === 'over';
  }

  async #pump(history: Pick<History, 'follow'>): Promise<void> {
    this.#state = 'going';
    try {
      for await (const event of history.follow(this.#run, this.#left.signal)) this.#add(event);
      this.#state = 'over';
    } catch (error) {
      this.#state = { error };
    }
    this.#wakeAll();
  }

  #add(event: StoredEvent): void {
    const before = event.seq - 1;
    if (before < this.#events.length) {
      this.#events.length = before;
      for (const follower of this.#followers) follower.position = Math.min(follower.position, before);
    }
    this.#events.push(event);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const { wake } of this.#followers) wake();
  }
}
