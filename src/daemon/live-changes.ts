import { randomBytes } from 'node:crypto';
import type { Clock } from '../engine/clock.ts';
import type { ListedWorkflow } from '../service/workflows/listed-workflow.ts';
import type { Suspensions } from '../store/store.ts';
import type { Catalog } from './catalog/catalog.ts';
import { createChangeLog, type NumberedChange } from './change-log.ts';
import type { RunBoard } from './run-board.ts';

/** What has changed, not how: whoever is told asks for its present state. */
export type Change =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'workflow'; readonly file: string }
  | { readonly kind: 'daemon' };

/** How the daemon is, as far as it changes while it runs. */
export type DaemonStatus = {
  readonly version: string;
  /** Runs that some process carries out. */
  readonly running: number;
  /** Runs that wait for a place. */
  readonly queued: number;
};

/**
 * The changes of all runs and workflows, for any number of readers, each at its own pace: a reader keeps a position, and the log
 * keeps what has changed since. Nothing is looked for while there are no readers.
 */
export type LiveChanges = {
  /** Positions of another daemon, or of this one before its restart, mean nothing here: they carry another word. */
  readonly epoch: string;
  readonly position: () => number;
  /** Null: the position is unknown here, or too old. */
  readonly since: (position: number) => readonly NumberedChange<Change>[] | null;
  /** Begins to look for changes; resolves after the first look. An attended run is looked at even when it is over. */
  readonly join: (wake: () => void, attended: AttendedRun | null) => Promise<() => void>;
  readonly daemon: () => DaemonStatus;
};

/** A run that a reader sees step by step; `look` is called whenever something has happened to it. */
export type AttendedRun = { readonly runId: string; readonly look: () => void };

export type LiveChangesParts = {
  readonly board: Pick<RunBoard, 'refresh' | 'watch' | 'attend'>;
  readonly catalog: Pick<Catalog, 'list' | 'version' | 'watch'>;
  readonly suspensions: Pick<Suspensions, 'isSuspended' | 'stamp'>;
  readonly nextOf: (listed: ListedWorkflow) => Date | null;
  readonly daemon: () => DaemonStatus;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};

/** A reader resumes within so many changes. */
const MAX_CHANGES = 10_000;
const lookMs = 250;
/** Schedules are read a little later than files. */
const scheduleDelayMs = 1000;

/** A log that is empty, and no reader. */
export function createLiveChanges(parts: LiveChangesParts): LiveChanges {
  const changes = new Changes(parts);
  return {
    epoch: randomBytes(6).toString('hex'),
    position: changes.log.position,
    since: changes.log.since,
    join: changes.join,
    daemon: parts.daemon,
  };
}

class Changes {
  readonly log = createChangeLog<Change>(MAX_CHANGES);
  readonly #parts: LiveChangesParts;
  readonly #readers = new Set<() => void>();
  #looking: Promise<void> | null = null;
  #takeBackTimer = () => {};
  #daemon = '';
  /** By file: whether it is suspended, and when it starts next. */
  #schedules: ReadonlyMap<string, string> | null = null;
  #schedulesOf = '';
  #schedulesUntil = 0;

  constructor(parts: LiveChangesParts) {
    this.#parts = parts;
    parts.board.watch((runId, file) => {
      if (runId !== null) this.#add(`run ${runId}`, { kind: 'run', runId });
      if (file !== null) this.#addWorkflow(file);
    });
    parts.catalog.watch(({ added, changed, removed }) => {
      for (const file of [...added, ...changed, ...removed]) this.#addWorkflow(file);
    });
  }

  readonly join = async (wake: () => void, attended: AttendedRun | null): Promise<() => void> => {
    const leave = attended === null ? () => {} : this.#parts.board.attend(attended.runId, attended.look);
    this.#readers.add(wake);
    await this.#look();
    return () => {
      leave();
      this.#readers.delete(wake);
      if (this.#readers.size === 0) this.#takeBackTimer();
    };
  };

  #add(key: string, change: Change): void {
    this.log.add(key, change);
    for (const wake of this.#readers) wake();
  }

  #addWorkflow(file: string): void {
    this.#add(`workflow ${file}`, { kind: 'workflow', file });
  }

  /** Looks now, and again after a while for as long as there are readers. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookNow()
      .catch(this.#parts.report)
      .finally(() => {
        this.#looking = null;
        this.#takeBackTimer();
        if (this.#readers.size > 0) {
          const { clock } = this.#parts;
          this.#takeBackTimer = clock.setTimer(clock.now() + lookMs, () => void this.#look());
        }
      });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    await this.#parts.board.refresh();
    this.#compareSchedules();
    const daemon = JSON.stringify(this.#parts.daemon());
    if (daemon !== this.#daemon) this.#add('daemon', { kind: 'daemon' });
    this.#daemon = daemon;
  }

  /** All of them, but only when one can have changed. */
  #compareSchedules(): void {
    const { catalog, suspensions, clock } = this.#parts;
    const key = `${catalog.version()} ${suspensions.stamp()}`;
    if (key === this.#schedulesOf && clock.now() < this.#schedulesUntil) return;
    this.#schedulesOf = key;
    const before = this.#schedules;
    this.#schedules = this.#readSchedules();
    if (before === null) return;
    for (const [file, schedule] of this.#schedules) {
      const known = before.get(file);
      if (known !== undefined && known !== schedule) this.#addWorkflow(file);
    }
  }

  #readSchedules(): ReadonlyMap<string, string> {
    const { catalog, suspensions, nextOf, clock } = this.#parts;
    const soon = clock.now() + scheduleDelayMs;
    this.#schedulesUntil = Number.POSITIVE_INFINITY;
    return new Map(
      catalog.list().map((listed) => {
        const isSuspended = suspensions.isSuspended(listed.file);
        const next = nextOf(listed)?.getTime() ?? null;
        const isAwaited = !isSuspended && (listed.workflow?.schedule.start.length ?? 0) > 0;
        if (next !== null || isAwaited) this.#schedulesUntil = Math.min(this.#schedulesUntil, next ?? soon);
        return [listed.file, `${isSuspended} ${next}`];
      }),
    );
  }
}
