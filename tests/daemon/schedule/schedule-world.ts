import type { ScheduledMoment } from '#core/run/run.ts';
import type { RunHead } from '#core/summary/summary.ts';
import { noSchedule, type Schedule } from '#core/workflow.ts';
import { createScheduler, type Scheduler, type SchedulerParts } from '#daemon/schedule/scheduler.ts';
import type { SchedulerEvent } from '#daemon/schedule/scheduler-event.ts';
import type { ListedWorkflow } from '#service/workflows/workflows.ts';
import type { Clock } from '#system/clock.ts';
import { workflow } from '../../support/workflow.ts';

/** A run that a world has accepted. */
export type WorldRun = {
  readonly runId: string;
  readonly file: string;
  readonly createdAt: number;
  readonly moment?: ScheduledMoment;
  isActive: boolean;
  isStopping: boolean;
};

/** A machine with a scheduler on it: its clock, its files, its runs and what it keeps on its disk. */
export class ScheduleWorld {
  readonly runs: WorldRun[] = [];
  readonly events: SchedulerEvent[] = [];
  /** Ends of suspensions, by file. */
  readonly suspended = new Map<string, number>();
  /** What the disk holds. */
  recordText: string | null = null;
  /** Thrown by the next starts, in order. */
  readonly refusals: unknown[] = [];
  /** Whether runs end the moment they have started. */
  runsAreShort = true;
  scheduler: Scheduler | null = null;
  #now: number;
  /** What timers go by: it neither jumps nor sees the machine sleep. */
  #elapsed = 0;
  #timers = new Set<{ readonly due: number; readonly callback: () => void }>();
  #files = new Map<string, ListedWorkflow>();
  #version = 1;
  #watchers = new Set<() => void>();
  /** The index's last look, by file. */
  #seen: readonly { readonly file: string; readonly run: RunHead; readonly isActive: boolean }[] = [];

  constructor(now: string) {
    this.#now = Date.parse(now);
  }

  get now(): number {
    return this.#now;
  }

  /** A valid file with that schedule; null: a broken one. */
  write(file: string, schedule: Partial<Schedule> | null, restartWaitMs = 0): void {
    const settings = { file, schedule: { ...noSchedule, timeZone: 'UTC', ...schedule }, restartWaitMs };
    const content = schedule === null ? null : workflow(settings);
    this.#files.set(file, { workflow: content, diagnostics: [], sources: [], file, name: file, group: '' });
    this.#changed();
  }

  remove(file: string): void {
    this.#files.delete(file);
    this.#changed();
  }

  listed(file: string): ListedWorkflow {
    const found = this.#files.get(file);
    if (found === undefined) throw new Error(`there is no "${file}"`);
    return found;
  }

  async boot(): Promise<void> {
    this.scheduler = await createScheduler(this.#parts());
    await this.#settle();
  }

  async shutDown(): Promise<void> {
    await this.scheduler?.close();
    this.scheduler = null;
    this.#timers.clear();
    this.#watchers.clear();
  }

  /** The process is gone; the disk is what it was some writes ago. */
  crash(recordText: string | null): void {
    this.scheduler = null;
    this.#timers.clear();
    this.#watchers.clear();
    this.recordText = recordText;
  }

  /** Time passes, timers fire. */
  async pass(ms: number): Promise<void> {
    await this.#settle();
    const end = this.#elapsed + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#advanceTo(Math.max(next.due, this.#elapsed));
      next.callback();
      await this.#settle();
    }
    this.#advanceTo(end);
    await this.#settle();
  }

  /** The clock is set, or the machine has slept: no timer notices. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** The moments for which a run was started, as times of day (or whole times) in UTC, in the order of starting. */
  started(from = 11, to = 16): string[] {
    return this.events.flatMap((event) =>
      event.type === 'started' ? [new Date(event.moment).toISOString().slice(from, to)] : [],
    );
  }

  #advanceTo(elapsed: number): void {
    this.#now += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }

  #changed(): void {
    this.#version += 1;
    for (const watcher of this.#watchers) watcher();
  }

  /** Everything here answers at once, so that all work is done after one turn of the event loop. */
  async #settle(): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
  }

  #parts(): SchedulerParts {
    const clock: Clock = {
      now: () => this.#now,
      elapsed: () => this.#elapsed,
      setTimer: (at, callback) => {
        const timer = { due: this.#elapsed + Math.max(0, at - this.#now), callback };
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
    };
    return {
      clock,
      catalog: {
        list: () => [...this.#files.values()],
        version: () => this.#version,
        watch: (listener) => {
          const watcher = () => listener({ added: [], changed: [], removed: [] });
          this.#watchers.add(watcher);
          return () => void this.#watchers.delete(watcher);
        },
      },
      suspensions: { endOf: (file) => this.suspended.get(file) ?? null },
      runs: {
        start: async ({ workflow: reference, runId, trigger, moment }) => {
          if (this.refusals.length > 0) throw this.refusals.shift();
          if (!('name' in reference) || runId === null || trigger !== 'schedule' || moment === undefined)
            throw new Error('a strange order');
          const isNew = !this.runs.some((run) => run.runId === runId);
          const isActive = !this.runsAreShort;
          const run = { runId, file: reference.name, createdAt: this.#now, moment, isActive, isStopping: false };
          if (isNew) this.runs.push(run);
          return { runId, isNew };
        },
        stop: async (runId) => {
          for (const run of this.runs) if (run.runId === runId) run.isStopping = true;
          return { result: 'asked', forced: false };
        },
      },
      runIndex: {
        touch: () => {},
        refresh: async () => {
          this.#seen = this.runs.map((run) => ({ file: run.file, run: boardRun(run), isActive: run.isActive }));
        },
        activeOf: (file) => this.#seen.filter((seen) => seen.isActive && seen.file === file).map(({ run }) => run),
        isRunOf: (file, runId) => this.#seen.some((seen) => seen.file === file && seen.run.runId === runId),
      },
      succeededSince: async (file, since, exceptId) =>
        this.runs.some((run) => run.file === file && run.createdAt >= since && run.runId !== exceptId && !run.isActive),
      previousMoment: (file, before) =>
        this.runs
          .flatMap((run) => (run.file === file && !run.isActive ? (run.moment?.scheduledFor ?? []) : []))
          .findLast((moment) => moment < before) ?? null,
      record: {
        path: '/state/schedule.json',
        read: () => this.recordText,
        write: (text) => {
          this.recordText = text;
        },
      },
      report: (event) => this.events.push(event),
    };
  }
}

function boardRun({ runId, createdAt }: WorldRun): RunHead {
  return { runId, createdAt: new Date(createdAt).toISOString() } as RunHead;
}
