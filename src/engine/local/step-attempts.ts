import { isOnlyProgram } from '#core/run/policies.ts';
import type { Outcome, RunInput } from '#core/run/run.ts';
import { handlerKind, type Step } from '#core/workflow.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { StartedChild } from '#executors/executor.ts';
import { type AttemptSignals, type EndRequest, EndSignal } from '#processes/end-signal.ts';
import type { Flush } from '#store/flush.ts';
import type { Clock } from '#system/clock.ts';
import { createTurns } from '#system/turns.ts';
import type { AttemptReport } from '../attempt/attempt.ts';
import type { StepTask } from '../driver/step-task.ts';
import type { Background } from './background.ts';
import type { DescriptorGate } from './descriptor-gate.ts';
import type { RunRecord } from './run-record.ts';
import { type AttemptSlot, RunSlots } from './run-slots.ts';
import type { AttemptTools, StepRunner } from './step-runner.ts';

/** Starting a program blocks the event loop for 1 to 2 ms; signals, ends of steps and output wait meanwhile. */
const maxStartsPerTurn = 8;

const notStarted: Outcome = {
  status: 'canceled',
  message: 'stopped before it started',
  exitCode: null,
  signal: null,
};

/** The dependencies of the attempts of a run. */
type RunOfAttempts = {
  readonly clock: Clock;
  /** The time that a service gets to end, in milliseconds. */
  readonly graceMs: number;
  readonly record: RunRecord;
  readonly secrets: RunSecrets;
  readonly runner: StepRunner;
  readonly running: RunningAttempts;
  readonly background: Background;
  /** The descriptor gate of this process. */
  readonly gate: DescriptorGate;
  readonly post: (input: RunInput) => void;
  readonly warn: (step: string | null, message: string) => void;
};

type MadeAttempt = Pick<AttemptTools, 'signals' | 'flush'> & { readonly slot: AttemptSlot };

/**
 * Makes the attempts that a run decided on. Each waits until the results it depends on are flushed, until its turn to
 * start and until there are descriptors for it.
 */
export class StepAttempts {
  readonly slots: RunSlots;
  readonly #own: RunOfAttempts;
  readonly #takeTurn = createTurns(maxStartsPerTurn);

  constructor(own: RunOfAttempts) {
    this.#own = own;
    this.slots = new RunSlots(own.record, own.clock);
  }

  /** Makes an attempt and posts its events. A rejection is an internal error. */
  async make(task: StepTask): Promise<void> {
    const { running, gate, clock } = this.#own;
    const { number } = task;
    const step = task.step;
    const { name } = step;
    const signals = running.enter(step);
    const slot = this.slots.enter(step, signals.signal);
    const flush = await this.#untilTurn(step, number);
    // A step that runs a sub-workflow waits for steps that need descriptors, and needs none itself.
    const isCounted = step.executor.type !== 'workflow';
    if (isCounted) await gate.enter(signals.signal);
    if (slot.program === null) running.begin(step);
    const report: AttemptReport = signals.signal.aborted
      ? { outcome: notStarted, facts: {} }
      : await this.#run(task, { signals, flush, slot });
    running.leave(name);
    slot.leave();
    this.#warnOfKill(step, signals);
    if (isCounted) gate.leave();
    if ('outputs' in report.outcome) this.#own.secrets.learn(report.outcome.outputs);
    const at = clock.now();
    this.#own.background.ended(name, at);
    this.#own.post(endOf(report, { at, step: name, attempt: number }));
  }

  /**
   * Flushes what the attempt depends on, so that a crash cannot lose it while the effects of the attempt survive. Resolves to
   * the flush that the program of the attempt has to wait for; null if it is done.
   */
  async #untilTurn(step: Step, number: number): Promise<Flush | null> {
    const { record } = this.#own;
    const { name, depends } = step;
    const isHandler = handlerKind(name) !== null;
    let flush: Flush | null = null;
    if (isHandler) await record.flush();
    else if (number > 1 || depends.length > 0) flush = record.flushResults([name, ...depends]);
    if (flush !== null && (flush.queued === null || !isOnlyProgram(step))) {
      await flush.done;
      flush = null;
    }
    await new Promise<void>((begin) => this.#takeTurn(begin, isHandler));
    return flush;
  }

  #run(task: StepTask, { slot, ...made }: MadeAttempt): Promise<AttemptReport> {
    const { runner, running, background, clock, post } = this.#own;
    const { step, number } = task;
    const { name } = step;
    const own = () => ({ at: clock.now(), step: name, attempt: number });
    return runner.attempt(task, {
      ...made,
      slot: slot.program,
      started: (process, child) => {
        if (slot.program !== null) {
          slot.started();
          running.begin(step);
        }
        if (process) background.add(name, process);
        post({ type: 'attempt-started', ...own(), process, ...childOf(child) });
      },
      contained: ({ container, daemon }) => post({ type: 'attempt-contained', ...own(), container, daemon }),
      service: {
        ready: () => post({ type: 'attempt-serving', ...own() }),
        giveUp: () => running.end(name, 'unready'),
      },
      limitTime: (timeoutMs) => running.limit(name, timeoutMs),
    });
  }

  #warnOfKill({ name, service, graceMs = this.#own.graceMs }: Step, { kill }: AttemptSignals): void {
    const { record, warn } = this.#own;
    if (service === undefined || !kill.aborted || record.state.cancellation?.force === true) return;
    warn(name, `killed: it did not end within ${Math.min(graceMs, this.#own.graceMs) / 1000}s`);
  }
}

function endOf(
  { outcome, facts, items, maxConcurrent }: AttemptReport,
  own: { readonly at: number; readonly step: string; readonly attempt: number },
): RunInput {
  if (items === undefined) return { type: 'attempt-ended', ...own, outcome, facts };
  return { type: 'items-read', ...own, items, ...(maxConcurrent === undefined ? {} : { maxConcurrent }) };
}

function childOf(
  child: StartedChild | undefined,
): Pick<Extract<RunInput, { type: 'attempt-started' }>, 'child' | 'childWorkflow'> {
  if (child === undefined) return {};
  return { child: child.runId, ...(child.workflow === undefined ? {} : { childWorkflow: child.workflow }) };
}

type Running = {
  readonly end: EndSignal;
  readonly kill: EndSignal;
  /**
   * Whether a first stop lets it run: set once it has started for a repeating step, whose current repetition a stop
   * lets finish, and for a service, which ends after the steps that use it.
   */
  finishesWhenStopped: boolean;
  /** Whether it runs a child run, which kills its own steps after the grace, and has as long again for its handlers. */
  readonly isRun: boolean;
  readonly graceMs: number;
  /** Its grace has begun. */
  isEnding: boolean;
  cancelTimer: () => void;
};

/** Running attempts and how they are ended: a request first, then a kill after the grace period. */
export class RunningAttempts {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #running = new Map<string, Running>();

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Adds an attempt that waits to start. */
  enter({ name, executor, graceMs = this.#graceMs }: Pick<Step, 'name' | 'executor' | 'graceMs'>): AttemptSignals {
    const running: Running = {
      end: new EndSignal(),
      kill: new EndSignal(),
      finishesWhenStopped: false,
      isRun: executor.type === 'workflow',
      graceMs: Math.min(graceMs, this.#graceMs),
      isEnding: false,
      cancelTimer: () => {},
    };
    this.#running.set(name, running);
    return { signal: running.end, kill: running.kill };
  }

  /** Marks the attempt at the step as started, unless it was asked to end before. */
  begin({ name, timeoutMs, repeat, service }: Step): void {
    const running = this.#running.get(name);
    if (running === undefined || running.end.aborted) return;
    running.finishesWhenStopped = repeat !== null || service !== undefined;
    this.limit(name, timeoutMs);
  }

  /** Limits the time of a started attempt from now on; 0: no limit. */
  limit(step: string, timeoutMs: number): void {
    const running = this.#running.get(step);
    if (running === undefined || running.end.aborted || running.isEnding || timeoutMs === 0) return;
    this.#after(running, timeoutMs, () => this.#end(running, 'timeout'));
  }

  /** Removes an attempt that has ended. */
  leave(step: string): void {
    this.#running.get(step)?.cancelTimer();
    this.#running.delete(step);
  }

  /** Asks all attempts to end, or those at some steps. The last first: an attempt may start when an earlier one ends. */
  stop(isMeant: (step: string) => boolean = () => true): void {
    for (const [step, running] of [...this.#running].reverse()) {
      if (running.end.aborted || running.isEnding || !isMeant(step)) continue;
      if (running.finishesWhenStopped) this.#killAfterGrace(running);
      else this.#end(running, 'stop');
    }
  }

  /** Asks one attempt to end. The grace of an earlier stop counts. */
  end(step: string, why: EndRequest = 'stop'): void {
    const running = this.#running.get(step);
    if (running === undefined || running.end.aborted) return;
    if (running.isEnding) running.end.abort(why);
    else this.#end(running, why);
  }

  /** Kills all attempts at once. */
  kill(): void {
    for (const running of [...this.#running.values()].reverse()) {
      running.cancelTimer();
      running.end.abort('stop');
      running.kill.abort('stop');
    }
  }

  #end(running: Running, why: EndRequest): void {
    this.#killAfterGrace(running);
    running.end.abort(why);
  }

  #killAfterGrace(running: Running): void {
    running.isEnding = true;
    const kill = () => void running.kill.abort('stop');
    this.#after(running, running.graceMs, () => {
      running.end.abort('stop');
      if (running.isRun) this.#after(running, running.graceMs, kill);
      else kill();
    });
  }

  #after(running: Running, ms: number, then: () => void): void {
    running.cancelTimer();
    running.cancelTimer = this.#clock.setTimer(this.#clock.now() + ms, then);
  }
}
