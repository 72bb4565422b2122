import { createHash } from 'node:crypto';
import type { Workflow } from '../../core/workflow.ts';
import type { Clock } from '../../engine/clock.ts';
import { WfError } from '../../errors.ts';
import type { RunDesk } from '../../service/runs/run-desk.ts';
import type { RunBoard } from '../run-board.ts';
import type { Action } from './decide.ts';
import type { WaitingRun } from './schedule-record.ts';
import type { SchedulerEvent } from './scheduler-event.ts';

/** What a dispatcher works with. */
export type DispatcherParts = {
  readonly clock: Pick<Clock, 'now'>;
  readonly desk: Pick<RunDesk, 'start' | 'stop'>;
  readonly board: Pick<RunBoard, 'activeOf'>;
  readonly report: (event: SchedulerEvent) => void;
};

/** Does what was decided, one thing after the other for each workflow, and keeps what has to wait. */
export type Dispatcher = {
  /** The board has been looked at: from now on it knows what was started before. */
  readonly begin: () => void;
  /** Never rejects: what goes wrong is reported. */
  readonly act: (workflow: ScheduledWorkflow, action: Action) => Promise<void>;
  /** Starts what has waited long enough for the file. */
  readonly goOn: (workflow: ScheduledWorkflow) => Promise<void>;
  /** Forgets what waits for a file. */
  readonly forget: (file: string) => void;
  readonly waiting: () => readonly WaitingRun[];
};

/** A workflow as far as its schedule goes; `file` is its absolute path. */
export type ScheduledWorkflow = Pick<Workflow, 'schedule' | 'restartWaitMs'> & { readonly file: string };

type Waiting = WaitingRun & {
  notBefore: number;
  /** Of a restart: whether the pause behind the old run has begun. */
  isPausing: boolean;
  /** When it is given up; null as long as nothing has gone wrong. */
  givenUpAt: number | null;
};

/** One that falls behind for ever must not fill the memory. */
const mostWaiting = 100;
const tryAgainMs = 5000;
const longestTryingMs = 600_000;

/** Starts with what an earlier dispatcher has left waiting. */
export function createDispatcher(parts: DispatcherParts, earlier: readonly WaitingRun[]): Dispatcher {
  return new LocalDispatcher(parts, earlier);
}

class LocalDispatcher implements Dispatcher {
  readonly #parts: DispatcherParts;
  /** By file, in the order in which they start. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Files of which a run was started that the board has not seen yet. */
  readonly #justStarted = new Set<string>();

  constructor(parts: DispatcherParts, earlier: readonly WaitingRun[]) {
    this.#parts = parts;
    for (const { file, ...run } of earlier) this.#enqueue({ file, ...run });
  }

  readonly begin = (): void => this.#justStarted.clear();

  readonly waiting = (): readonly WaitingRun[] =>
    [...this.#waiting.values()].flat().map(({ file, kind, moment }) => ({ file, kind, moment }));

  readonly forget = (file: string): void => void this.#waiting.delete(file);

  readonly act = async (workflow: ScheduledWorkflow, action: Action): Promise<void> => {
    switch (action.kind) {
      case 'stop':
        return this.#stopAll(workflow, action);
      case 'start':
        return this.#start(workflow, action);
      case 'restart':
        return this.#restart(workflow, action);
    }
  };

  readonly goOn = async (workflow: ScheduledWorkflow): Promise<void> => {
    const { file, restartWaitMs } = workflow;
    for (let run = this.#waiting.get(file)?.[0]; run !== undefined; run = this.#waiting.get(file)?.[0]) {
      const now = this.#parts.clock.now();
      // A clock that was set back must not make it wait any longer than it would have.
      run.notBefore = Math.min(run.notBefore, now + Math.max(restartWaitMs, tryAgainMs));
      if (now < run.notBefore || this.#mustWait(workflow, run)) return;
      if (run.kind === 'restart' && !run.isPausing) {
        run.isPausing = true;
        run.notBefore = now + restartWaitMs;
        continue;
      }
      if (!(await this.#tryToStart(run))) return;
    }
  };

  async #start(workflow: ScheduledWorkflow, { moment, isLate }: Action): Promise<void> {
    const { file, schedule } = workflow;
    const run: WaitingRun = { file, kind: 'start', moment };
    const isFree = !this.#isBusy(run) && !this.#waiting.has(file);
    if (!isFree && schedule.overlap === 'skip' && !isLate) {
      this.#parts.report({ type: 'skipped', file, moment });
      return;
    }
    if (this.#enqueue(run) && !isFree && schedule.overlap !== 'all')
      this.#parts.report({ type: 'waiting', file, moment });
    await this.goOn(workflow);
  }

  async #restart(workflow: ScheduledWorkflow, action: Action): Promise<void> {
    const { file } = workflow;
    const { moment } = action;
    const isRunning = this.#parts.board.activeOf(file).length > 0;
    await this.#stopAll(workflow, action);
    if (this.#waiting.get(file)?.some(({ kind }) => kind === 'restart')) return;
    const run = this.#enqueue({ file, kind: 'restart', moment });
    // Where nothing runs there is no old run to keep a distance from.
    if (run !== null && !isRunning) run.isPausing = true;
    await this.goOn(workflow);
  }

  /** Only what there was at that moment: a late stop must not end what was started since. */
  async #stopAll({ file }: ScheduledWorkflow, { kind, moment }: Action): Promise<void> {
    for (const { runId, createdAt } of this.#parts.board.activeOf(file)) {
      if (Date.parse(createdAt) > moment && kind === 'stop') continue;
      try {
        await this.#parts.desk.stop(runId, 'schedule');
        this.#parts.report({ type: 'stopped', file, moment, runId });
      } catch (error) {
        this.#parts.report({ type: 'failed', file, kind, moment, error, isOver: true });
      }
    }
  }

  #mustWait({ schedule }: ScheduledWorkflow, run: Waiting): boolean {
    return (schedule.overlap !== 'all' || run.kind === 'restart') && this.#isBusy(run);
  }

  /** Another run of the workflow is active. The very one that is due is not in its own way: it may be asked for twice. */
  #isBusy({ file, moment }: WaitingRun): boolean {
    const isOther = ({ runId }: { readonly runId: string }) => runId !== scheduledRunId(file, moment);
    return this.#justStarted.has(file) || this.#parts.board.activeOf(file).some(isOther);
  }

  /** False when it has to be tried again. */
  async #tryToStart(run: Waiting): Promise<boolean> {
    const { clock, desk, report } = this.#parts;
    const { file, kind, moment } = run;
    try {
      const order = {
        workflow: { name: file },
        params: null,
        runId: scheduledRunId(file, moment),
        trigger: 'schedule',
      } as const;
      const { runId, isNew } = await desk.start(order);
      this.#dequeue(run);
      if (isNew) {
        this.#justStarted.add(file);
        report({ type: 'started', file, moment, runId });
      }
      return true;
    } catch (error) {
      const now = clock.now();
      const isFirst = run.givenUpAt === null;
      run.givenUpAt ??= now + longestTryingMs;
      run.notBefore = now + tryAgainMs;
      const isOver = !isPassing(error) || now >= run.givenUpAt;
      if (isOver) this.#dequeue(run);
      if (isOver || isFirst) report({ type: 'failed', file, kind, moment, error, isOver });
      return isOver;
    }
  }

  /** Null when too many wait already. */
  #enqueue(run: WaitingRun): Waiting | null {
    const runs = this.#waiting.get(run.file) ?? [];
    if (runs.length >= mostWaiting) {
      this.#parts.report({ type: 'skipped', file: run.file, moment: run.moment });
      return null;
    }
    const waiting = { ...run, notBefore: Number.NEGATIVE_INFINITY, isPausing: false, givenUpAt: null };
    this.#waiting.set(run.file, [...runs, waiting]);
    return waiting;
  }

  #dequeue(run: Waiting): void {
    const left = (this.#waiting.get(run.file) ?? []).filter((other) => other !== run);
    if (left.length === 0) this.#waiting.delete(run.file);
    else this.#waiting.set(run.file, left);
  }
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  return error instanceof WfError && (error.code === 'busy' || error.code === 'storage');
}

/**
 * The id of the run of a workflow for one moment: always the same one, so that whoever asks for it a second time, in
 * whichever process, starts nothing. A UUID of version 8, which tells no time: the run of a moment may be made long
 * after it, by `catchup` or out of a queue, and is placed in the history by when it was made.
 */
export function scheduledRunId(file: string, moment: number): string {
  const bytes = createHash('sha256').update(`${file}\0${moment}`).digest().subarray(0, 16);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
