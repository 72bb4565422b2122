import { given } from '#core/data/collections.ts';
import type { Workflow } from '#core/workflow.ts';
import type { RunActions } from '#service/service.ts';
import { derivedRunId } from '#service/start-runs.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs } from '#system/errors.ts';
import type { RunIndex } from '../run-index.ts';
import type { SchedulerEvent } from './scheduler-event.ts';
import type { Action, WaitingRun } from './timetable.ts';

type DispatcherParts = {
  readonly clock: Pick<Clock, 'now'>;
  readonly runs: Pick<RunActions, 'start' | 'stop'>;
  readonly runIndex: Pick<RunIndex, 'activeOf' | 'isRunOf'>;
  /** The moment before this one whose run of the workflow has succeeded; null: none is known. */
  readonly previousMoment: (file: string, before: number) => number | null;
  readonly report: (event: SchedulerEvent) => void;
};

/** The scheduling data of a workflow; `file` is its absolute path. */
export type ScheduledWorkflow = Pick<Workflow, 'schedule' | 'restartWaitMs'> & { readonly file: string };

type Waiting = WaitingRun & {
  notBefore: number;
  /** Of a restart: whether the pause after the old run has begun. */
  isPausing: boolean;
  /** When the retries end; null: no attempt has failed. */
  givenUpAt: number | null;
};

/** The maximum number of waiting runs of a workflow, which limits memory. */
const MOST_WAITING = 100;
const TRY_AGAIN_MS = 5000;
const LONGEST_TRYING_MS = 600_000;

/** Carries out actions, one after the other for each workflow, and keeps the waiting ones. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  /** Waiting runs by file, in the order in which they start. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Files with a started run that is not on the index yet. */
  readonly #justStarted = new Set<string>();

  constructor(parts: DispatcherParts, earlier: readonly WaitingRun[]) {
    this.#parts = parts;
    for (const run of earlier) this.#enqueue(run);
  }

  /** Notes that the index was refreshed and contains all earlier starts. */
  begin(): void {
    this.#justStarted.clear();
  }

  waiting(): readonly WaitingRun[] {
    return [...this.#waiting.values()].flat().map(({ file, kind, moment }) => ({ file, kind, moment }));
  }

  forget(file: string): void {
    this.#waiting.delete(file);
  }

  /** Carries out an action. Never rejects: errors are reported. */
  async act(workflow: ScheduledWorkflow, action: Action): Promise<void> {
    switch (action.kind) {
      case 'stop':
        return this.#stopAll(workflow, action);
      case 'start':
        return this.#start(workflow, action);
      case 'restart':
        return this.#restart(workflow, action);
    }
  }

  /** Starts the waiting runs of a file that may start now. */
  async goOn(workflow: ScheduledWorkflow): Promise<void> {
    const { file, restartWaitMs } = workflow;
    for (let run = this.#waiting.get(file)?.[0]; run !== undefined; run = this.#waiting.get(file)?.[0]) {
      const now = this.#parts.clock.now();
      // A clock that was set back must not extend the pause.
      run.notBefore = Math.min(run.notBefore, now + Math.max(restartWaitMs, TRY_AGAIN_MS));
      if (now < run.notBefore || this.#mustWait(workflow, run)) return;
      if (run.kind === 'restart' && !run.isPausing) {
        run.isPausing = true;
        run.notBefore = now + restartWaitMs;
        continue;
      }
      if (!(await this.#tryToStart(run))) return;
    }
  }

  async #start(workflow: ScheduledWorkflow, { moment, isLate }: Action): Promise<void> {
    const { file, schedule } = workflow;
    const run: WaitingRun = { file, kind: 'start', moment };
    const isFree = !this.#isBusy(run) && !this.#waiting.has(file);
    if (!isFree && schedule.overlap === 'skip' && !isLate) {
      this.#parts.report({ type: 'skipped', file, moment });
      return;
    }
    if (!isFree && schedule.overlap === 'latest') this.#dropStarts(file);
    if (this.#enqueue(run) && !isFree && schedule.overlap !== 'all')
      this.#parts.report({ type: 'waiting', file, moment });
    await this.goOn(workflow);
  }

  async #restart(workflow: ScheduledWorkflow, action: Action): Promise<void> {
    const { file } = workflow;
    const { moment } = action;
    const { runIndex } = this.#parts;
    // The previous scheduler was killed after it had carried out the restart and before it recorded that.
    if (runIndex.isRunOf(file, derivedRunId(file, moment))) return;
    const isRunning = runIndex.activeOf(file).length > 0;
    await this.#stopAll(workflow, action);
    if (this.#waiting.get(file)?.some(({ kind }) => kind === 'restart')) return;
    const run = this.#enqueue({ file, kind: 'restart', moment });
    // Without an old run there is no pause.
    if (run !== null && !isRunning) run.isPausing = true;
    await this.goOn(workflow);
  }

  /** Stops the runs that existed at the due time: a late stop must not end later runs. */
  async #stopAll({ file }: ScheduledWorkflow, { kind, moment }: Action): Promise<void> {
    for (const { runId, createdAt } of this.#parts.runIndex.activeOf(file)) {
      if (Date.parse(createdAt) > moment && kind === 'stop') continue;
      try {
        await this.#parts.runs.stop(runId, { by: 'schedule', kill: 'never' });
        this.#parts.report({ type: 'stopped', file, moment, runId });
      } catch (error) {
        this.#parts.report({ type: 'failed', file, kind, moment, error, isOver: true });
      }
    }
  }

  #mustWait({ schedule }: ScheduledWorkflow, run: Waiting): boolean {
    return (schedule.overlap !== 'all' || run.kind === 'restart') && this.#isBusy(run);
  }

  /** Whether another run of the workflow is active. The due run itself does not count, since it may be requested twice. */
  #isBusy({ file, moment }: WaitingRun): boolean {
    const isOther = ({ runId }: { readonly runId: string }) => runId !== derivedRunId(file, moment);
    return this.#justStarted.has(file) || this.#parts.runIndex.activeOf(file).some(isOther);
  }

  /** Starts a run; false if it must be retried. */
  async #tryToStart(run: Waiting): Promise<boolean> {
    const { clock, runs, report, previousMoment } = this.#parts;
    const { file, kind, moment } = run;
    try {
      const order = {
        workflow: { name: file },
        params: null,
        runId: derivedRunId(file, moment),
        trigger: 'schedule',
        moment: { scheduledFor: moment, ...given({ previousFor: previousMoment(file, moment) }) },
      } as const;
      const { runId, isNew } = await runs.start(order);
      this.#dequeue(run);
      if (isNew) {
        this.#justStarted.add(file);
        report({ type: 'started', file, moment, runId });
      }
      return true;
    } catch (error) {
      const now = clock.now();
      const isFirst = run.givenUpAt === null;
      run.givenUpAt ??= now + LONGEST_TRYING_MS;
      run.notBefore = now + TRY_AGAIN_MS;
      const isOver = !failedAs(error, 'busy', 'storage', 'unreachable') || now >= run.givenUpAt;
      if (isOver) this.#dequeue(run);
      if (isOver || isFirst) report({ type: 'failed', file, kind, moment, error, isOver });
      return isOver;
    }
  }

  /** Adds a waiting run; null if there are too many. */
  #enqueue(run: WaitingRun): Waiting | null {
    const runs = this.#waiting.get(run.file) ?? [];
    if (runs.length >= MOST_WAITING) {
      this.#parts.report({ type: 'skipped', file: run.file, moment: run.moment });
      return null;
    }
    const waiting = { ...run, notBefore: Number.NEGATIVE_INFINITY, isPausing: false, givenUpAt: null };
    this.#waiting.set(run.file, [...runs, waiting]);
    return waiting;
  }

  #dropStarts(file: string): void {
    for (const run of this.#waiting.get(file) ?? []) {
      if (run.kind !== 'start') continue;
      this.#dequeue(run);
      this.#parts.report({ type: 'replaced', file, moment: run.moment });
    }
  }

  #dequeue(run: Waiting): void {
    const left = (this.#waiting.get(run.file) ?? []).filter((other) => other !== run);
    if (left.length === 0) this.#waiting.delete(run.file);
    else this.#waiting.set(run.file, left);
  }
}
