import type { Outcome, RunInput } from '#core/run/run.ts';
import { handlerKind, type Step } from '#core/workflow.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { StartedChild } from '#executors/executor.ts';
import type { AttemptSignals } from '#processes/end-signal.ts';
import type { Clock } from '#system/clock.ts';
import { createTurns } from '#system/turns.ts';
import type { RunningAttempts } from '../attempt/running-attempts.ts';
import type { AttemptTools, StepRunner } from '../attempt/step-runner.ts';
import { type AttemptReport, attemptEnd, type StepTask } from '../driver/step-task.ts';
import type { Background } from './background.ts';
import type { DescriptorGate } from './descriptor-gate.ts';
import type { RunRecord } from './run-record.ts';
import { type AttemptSlot, RunSlots } from './run-slots.ts';

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

type MadeAttempt = Pick<AttemptTools, 'signals'> & { readonly slot: AttemptSlot };

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
    await this.#untilTurn(step, number);
    // A step that runs a sub-workflow waits for steps that need descriptors, and needs none itself.
    const isCounted = step.executor.type !== 'workflow';
    if (isCounted) await gate.enter(signals.signal);
    if (slot.program === null) running.begin(step);
    const report: AttemptReport = signals.signal.aborted
      ? { outcome: notStarted, facts: {} }
      : await this.#run(task, { signals, slot });
    running.leave(name);
    slot.leave();
    this.#warnOfKill(step, signals);
    if (isCounted) gate.leave();
    if ('outputs' in report.outcome) this.#own.secrets.learn(report.outcome.outputs);
    const at = clock.now();
    this.#own.background.ended(name, at);
    this.#own.post(attemptEnd(report, { at, step: name, attempt: number }));
  }

  /** Flushes what the attempt depends on, so that a crash cannot lose it while the effects of the attempt survive. */
  async #untilTurn(step: Step, number: number): Promise<void> {
    const { record } = this.#own;
    const { name, depends } = step;
    const isHandler = handlerKind(name) !== null;
    if (isHandler) await record.flush();
    else if (number > 1 || depends.length > 0) await record.flushResults([name, ...depends]);
    await new Promise<void>((begin) => this.#takeTurn(begin, isHandler));
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

function childOf(
  child: StartedChild | undefined,
): Pick<Extract<RunInput, { type: 'attempt-started' }>, 'child' | 'childWorkflow'> {
  if (child === undefined) return {};
  return { child: child.runId, ...(child.workflow === undefined ? {} : { childWorkflow: child.workflow }) };
}
