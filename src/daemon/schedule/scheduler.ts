import type { Schedule } from '#core/workflow.ts';
import type { RunActions } from '#service/service.ts';
import { derivedRunId } from '#service/start-runs.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import type { DurableText, Suspensions } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { someAtOnce } from '#system/turns.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { RunIndex } from '../run-index.ts';
import { type CronTimes, loadCronTimes } from './cron-times.ts';
import { Dispatcher, type ScheduledWorkflow } from './dispatcher.ts';
import { expressionsOf, nextStarts } from './next-start.ts';
import { loadScheduleWords, type SchedulerEvent, type ScheduleWords } from './scheduler-event.ts';
import {
  type DueActions,
  type DueFile,
  decide,
  momentsBetween,
  readRecord,
  type ScheduleRecord,
  Timetable,
  type UpcomingMoment,
  writeRecord,
} from './timetable.ts';

/** The dependencies of a scheduler. */
export type SchedulerParts = {
  readonly catalog: Pick<Catalog, 'list' | 'version' | 'watch'>;
  readonly clock: Clock;
  readonly suspensions: Pick<Suspensions, 'endOf'>;
  readonly runs: Pick<RunActions, 'start' | 'stop'>;
  readonly runIndex: Pick<RunIndex, 'touch' | 'refresh' | 'activeOf' | 'isRunOf'>;
  /** Whether another run of a workflow than `exceptId` was created at this time or later and has succeeded. */
  readonly succeededSince: (file: string, since: number, exceptId: string) => Promise<boolean>;
  /** The moment before this one whose run of the workflow has succeeded; null: none is known. */
  readonly previousMoment: (file: string, before: number) => number | null;
  /** The file of its progress. */
  readonly record: DurableText;
  readonly report: (event: SchedulerEvent) => void;
};

/** The longest timer. Timers do not notice suspend or a changed clock, so the clock is checked in between. */
const LONGEST_SLEEP_MS = 5000;
/** The longest timer while an action waits for a run to finish. */
const WAITING_SLEEP_MS = 1000;
const MOST_AT_ONCE = 8;

/** Creates a scheduler that continues where the last scheduler of the same record stopped. */
export async function createScheduler(parts: SchedulerParts): Promise<Scheduler> {
  const [times, words] = await Promise.all([loadCronTimes(), loadScheduleWords()]);
  return new Scheduler(parts, times, words);
}

/** Starts, stops and restarts workflows by their schedules, once for each due time. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #timetable: Timetable;
  readonly #times: CronTimes;
  readonly #words: (schedule: Schedule) => ScheduleWords;
  readonly #dispatcher: Dispatcher;
  #version: number | null = null;
  #brokenFiles: ReadonlySet<string> = new Set();
  #isRecordOld = false;
  #trouble = '';
  #missed = 0;
  #lagMs = 0;
  #isClosed = false;
  #isAgainWanted = false;
  #working: Promise<void> | null = null;
  #cancelTimer = () => {};
  readonly #unwatch: () => void;

  constructor(parts: SchedulerParts, times: CronTimes, words: (schedule: Schedule) => ScheduleWords) {
    this.#parts = parts;
    const { rules, waiting } = this.#readRecord();
    this.#times = times;
    this.#words = words;
    this.#timetable = new Timetable(times, rules);
    this.#dispatcher = new Dispatcher({ ...parts, report: this.#report }, waiting);
    this.#unwatch = this.#parts.catalog.watch(() => this.#wake());
    this.#wake();
  }

  /** Returns the delay of the last handled due time, or of an overdue one, in seconds. */
  lagSeconds(): number {
    const overdueMs = this.#parts.clock.now() - this.#timetable.nextMoment();
    return Math.max(0, overdueMs, this.#lagMs) / 1000;
  }

  /** Returns the number of due times, since the start, that were missed and not caught up. */
  missed(): number {
    return this.#missed;
  }

  /** Returns a text that changes with the results of `moments` and `missed`. */
  stamp(): string {
    return [this.#version, this.#timetable.nextMoment(), this.#missed].join(' ');
  }

  /** Returns the next start of a workflow; null if it is suspended without an end, invalid or has no such schedule. */
  nextOf(entry: ListedWorkflow): Date | null {
    return this.startsOf(entry, 1)[0] ?? null;
  }

  startsOf({ workflow, file }: ListedWorkflow, count: number): readonly Date[] {
    const { clock, suspensions } = this.#parts;
    if (workflow === null) return [];
    const suspendedUntil = suspensions.endOf(file);
    return nextStarts(workflow.schedule, this.#times, { now: clock.now(), suspendedUntil, count });
  }

  /** Returns the schedule of a workflow in words; null if its file is invalid. */
  wordsOf({ workflow }: ListedWorkflow): ScheduleWords | null {
    return workflow === null ? null : this.#words(workflow.schedule);
  }

  /** Returns the next due time of each expression, in order, without suspended workflows. */
  upcoming(): readonly UpcomingMoment[] {
    const { suspensions } = this.#parts;
    return this.#timetable
      .upcoming()
      .filter(({ rule, at }) => at >= (suspensions.endOf(rule.file) ?? 0))
      .map(({ rule: { file, kind }, at }) => ({ file, kind, at: new Date(at) }))
      .sort((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** At most `limit` scheduled actions between two times, in order, and those that a suspension holds back. */
  moments(from: number, to: number, limit: number): Promise<readonly UpcomingMoment[]> {
    return momentsBetween(this.#timetable.rules(), this.#times, { from, to, limit });
  }

  /** Resolves when all begun actions are done and recorded; none begins afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unwatch();
    this.#cancelTimer();
    await this.#working;
  }

  readonly #report = (event: SchedulerEvent): void => {
    if (event.type === 'missed') this.#missed += event.count;
    if (event.type === 'failed' && event.isOver) this.#missed += 1;
    this.#parts.report(event);
  };

  /** Handles due times now; a call in the meantime causes another pass. */
  #wake(): void {
    if (this.#isClosed) return;
    if (this.#working !== null) {
      this.#isAgainWanted = true;
      return;
    }
    this.#cancelTimer();
    this.#working = this.#work()
      .catch((error) => this.#reportTrouble(error))
      .finally(() => {
        this.#working = null;
        this.#sleep();
      });
  }

  #sleep(): void {
    if (this.#isClosed) return;
    const now = this.#parts.clock.now();
    const longest = this.#dispatcher.waiting().length > 0 ? WAITING_SLEEP_MS : LONGEST_SLEEP_MS;
    const next = this.#timetable.nextMoment();
    // A failed action is not retried immediately.
    const until = next <= now ? now + WAITING_SLEEP_MS : Math.min(next, now + longest);
    this.#cancelTimer = this.#parts.clock.setTimer(this.#isAgainWanted ? now : until, () => this.#wake());
    this.#isAgainWanted = false;
  }

  async #work(): Promise<void> {
    const { catalog, clock } = this.#parts;
    if (catalog.version() !== this.#version) {
      this.#version = catalog.version();
      this.#timetable.follow(catalog.list(), clock.now());
      this.#isRecordOld = true;
      this.#reportBroken();
    }
    const now = clock.now();
    const due = this.#timetable.due(now);
    const waiting = this.#dispatcher.waiting().map(({ file }) => file);
    const files = [...new Set([...due.keys(), ...waiting])];
    if (files.length > 0) await this.#dealWithAll(files, due, now);
    // Recorded last: after an earlier crash the action is repeated, which has no second effect.
    if (this.#isRecordOld) this.#writeRecord();
  }

  async #dealWithAll(files: readonly string[], due: ReadonlyMap<string, DueFile>, now: number): Promise<void> {
    await this.#lookAtRuns();
    const dealtWith = new Set<string>();
    await someAtOnce(MOST_AT_ONCE, files, async (file) => {
      try {
        await this.#dealWith(file, due.get(file), now);
        dealtWith.add(file);
      } catch (error) {
        // The time remains due.
        this.#reportTrouble(error);
      }
    });
    if (dealtWith.size === files.length) this.#trouble = '';
    this.#timetable.settle(dealtWith, now);
    this.#isRecordOld = true;
  }

  async #lookAtRuns(): Promise<void> {
    const { runIndex } = this.#parts;
    runIndex.touch();
    await runIndex.refresh();
    this.#dispatcher.begin();
  }

  async #dealWith(file: string, due: DueFile | undefined, now: number): Promise<void> {
    const found = due?.workflow ?? this.#timetable.workflowOf(file);
    if (found === null) return;
    const suspendedUntil = this.#parts.suspensions.endOf(file) ?? 0;
    if (suspendedUntil > now) return this.#dispatcher.forget(file);
    const workflow = { ...found, file };
    if (due !== undefined) {
      const { actions, missed } = decide(dueAfter(suspendedUntil, due.due), found.schedule, now);
      this.#reportMissed(file, missed);
      for (const action of actions) {
        if (!action.isLate) this.#lagMs = Math.max(0, this.#parts.clock.now() - action.moment);
        if (action.kind === 'start' && (await this.#isUnneeded(workflow, action.moment))) {
          this.#report({ type: 'unneeded', file, moment: action.moment });
        } else {
          await this.#dispatcher.act(workflow, action);
        }
      }
    }
    await this.#dispatcher.goOn(workflow);
  }

  /** Whether a run succeeded since the due time before; the run of that time itself does not count. */
  async #isUnneeded({ file, schedule }: ScheduledWorkflow, moment: number): Promise<boolean> {
    if (schedule.skipIfSuccessful !== true) return false;
    const rules = expressionsOf(schedule, 'start');
    const since = Math.max(...rules.flatMap((rule) => this.#times.last(rule, moment - 1, 1)));
    return this.#parts.succeededSince(file, since, derivedRunId(file, since));
  }

  #reportMissed(file: string, missed: DueActions['missed']): void {
    for (const kind of new Set(missed.map((one) => one.kind))) {
      const moments = missed.filter((one) => one.kind === kind).map(({ moment }) => moment);
      const [first, last] = [Math.min(...moments), Math.max(...moments)];
      this.#report({ type: 'missed', file, kind, count: moments.length, first, last });
    }
  }

  /** Reports an error once, not at every pass. */
  #reportTrouble(error: unknown): void {
    const text = String(error);
    if (text !== this.#trouble) this.#report({ type: 'trouble', error });
    this.#trouble = text;
  }

  #reportBroken(): void {
    const broken = this.#timetable.broken();
    for (const file of broken) if (!this.#brokenFiles.has(file)) this.#report({ type: 'broken', file });
    this.#brokenFiles = broken;
  }

  #readRecord(): ScheduleRecord {
    try {
      const record = readRecord(this.#parts.record);
      if (record !== null) return record;
    } catch (error) {
      this.#reportTrouble(error);
    }
    return { rules: [], waiting: [] };
  }

  #writeRecord(): void {
    writeRecord(this.#parts.record, { rules: this.#timetable.progress(), waiting: this.#dispatcher.waiting() });
    this.#isRecordOld = false;
  }
}

/** Due times during a suspension are not caught up after its end, even if no scheduler was running meanwhile. */
function dueAfter(suspendedUntil: number, due: DueFile['due']): DueFile['due'] {
  const after = (moments: readonly number[]) => moments.filter((moment) => moment >= suspendedUntil);
  return { start: after(due.start), stop: after(due.stop), restart: after(due.restart) };
}
