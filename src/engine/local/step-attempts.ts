import { isOnlyProgram } from '#core/run/policies.ts';
import type { Outcome } from '#core/run/run.ts';
import { handlerKind, type Step } from '#core/workflow.ts';
import type { AttemptSignals, EndSignal } from '#processes/end-signal.ts';
import type { Flush } from '#store/store.ts';
import { createTurns } from '#system/turns.ts';
import { MadeAttempts, type MadeAttemptsParts } from '../attempt/made-attempts.ts';
import type { TakenLocks } from '../attempt/run-locks.ts';
import { type AttemptReport, notStarted, type StepTask } from '../driver/step-task.ts';
import type { DescriptorGate } from './descriptor-gate.ts';
import type { RunRecord } from './run-record.ts';
import { type AttemptSlot, RunSlots } from './run-slots.ts';

/** Starting a program blocks the event loop for 1 to 2 ms; signals, ends of steps and output wait meanwhile. */
const MAX_STARTS_PER_TURN = 8;

/** The dependencies of the attempts of a run. */
type RunOfAttempts = MadeAttemptsParts & {
  readonly record: RunRecord;
  readonly gate: DescriptorGate;
  /** Waits for the locks of an attempt; an outcome if it cannot be made. */
  readonly takeLocks: (task: StepTask, signal: EndSignal) => Promise<TakenLocks | { readonly outcome: Outcome }>;
};

/**
 * Makes the attempts that a run decided on. Each waits until the results it depends on are flushed, until its turn to
 * start and until there are descriptors for it.
 */
export class StepAttempts {
  readonly slots: RunSlots;
  readonly #own: RunOfAttempts;
  readonly #made: MadeAttempts;
  readonly #takeTurn = createTurns(MAX_STARTS_PER_TURN);

  constructor(own: RunOfAttempts) {
    this.#own = own;
    this.#made = new MadeAttempts(own);
    this.slots = new RunSlots(own.record, own.clock);
  }

  /** Makes an attempt and posts its events. A rejection is an internal error. */
  async make(task: StepTask): Promise<void> {
    const { running, takeLocks, warn } = this.#own;
    const { step, number } = task;
    const signals = running.enter(step);
    const slot = this.slots.enter(step, signals.signal);
    const flush = await this.#untilTurn(step, number);
    // An attempt that waits for its locks occupies nothing.
    const locks = step.locks === undefined ? null : await takeLocks(task, signals.signal);
    const report =
      locks !== null && 'outcome' in locks ? { ...locks, facts: {} } : await this.#work(task, { signals, flush, slot });
    const broken = locks !== null && 'release' in locks ? locks.release() : [];
    for (const name of broken) warn(step.name, `the lock "${name}" was broken before the attempt ended`);
    slot.leave();
    this.#made.end(task, report, signals);
  }

  async #work(
    task: StepTask,
    { signals, flush, slot }: { signals: AttemptSignals; flush: Flush | null; slot: AttemptSlot },
  ): Promise<AttemptReport> {
    const { running, gate } = this.#own;
    const { step } = task;
    // A step that runs a sub-workflow waits for steps that need descriptors, and needs none itself.
    const isCounted = step.executor.type !== 'workflow';
    if (isCounted) await gate.enter(signals.signal);
    if (slot.program === null) running.begin(step);
    const onStart = () => {
      if (slot.program === null) return;
      slot.started();
      running.begin(step);
    };
    const report: AttemptReport = signals.signal.aborted
      ? { outcome: notStarted, facts: {} }
      : await this.#made.run(task, { signals, flush, slot: slot.program }, onStart);
    if (isCounted) gate.leave();
    return report;
  }

  /**
   * Flushes what the attempt depends on, so that a crash cannot lose it while the effects of the attempt survive. Resolves to
   * the flush that its program has to wait for; null if it is done.
   */
  async #untilTurn(step: Step, number: number): Promise<Flush | null> {
    const { record } = this.#own;
    const { name, depends } = step;
    const isHandler = handlerKind(name) !== null;
    let flush: Flush | null = null;
    if (isHandler) await record.flush();
    else if (number > 1 || depends.length > 0) flush = record.flushResults([name, ...depends], isOnlyProgram(step));
    if (flush?.queued === null) {
      await flush.done;
      flush = null;
    }
    await new Promise<void>((begin) => this.#takeTurn(begin, isHandler));
    return flush;
  }
}
