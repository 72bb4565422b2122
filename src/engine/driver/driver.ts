import { firstItems } from '#core/data/collections.ts';
import { evolve } from '#core/run/evolve.ts';
import { lateTime } from '#core/run/policies.ts';
import type { CancelReason, FinishedStatus, Outputs, Param, RunEvent, RunInput, StoredEvent } from '#core/run/run.ts';
import { isActive, isFinished, isHeld, isSettled, type RunState, stepNode, stepState } from '#core/run/run-state.ts';
import { type Decision, transition } from '#core/run/transition.ts';
import type { NumberValue, RunNumberKey, Step } from '#core/workflow.ts';
import type { Clock } from '#system/clock.ts';
import type { GivenAnswer, NoticeStatus, RunRequest } from '../engine.ts';
import { type ResultFiles, StepResults, type StepTask, stepTask } from './step-task.ts';
import { LateTimers, RunLimit, RunTimers } from './timers.ts';

/** What a driver needs of the request for its run. */
type DrivenRequest = Pick<RunRequest, 'workflow' | 'onApproval' | 'restored'>;

/** What the evaluation of a run before its first step found. `unmet`: the precondition of the workflow that is not met. */
export type PreparedRun =
  | {
      readonly params: readonly Param[];
      /** The numbers of the workflow that variables give; absent if it has none. */
      readonly numbers?: readonly NumberValue<RunNumberKey>[];
      readonly unmet: string | null;
    }
  | { readonly problem: string };

/** Messages to a driver: inputs for `transition`, and events that need no decision. */
type Message = RunInput | { readonly type: 'note'; readonly event: RunEvent };

/** The time of a timer that does not fire. */
const never = Number.MAX_SAFE_INTEGER;

/**
 * The host of a driver: it stores events and carries out orders. An order returns at once; what comes of it is posted to
 * the driver as an input.
 */
export type DriverHost = ResultFiles & {
  readonly clock: Clock;
  /** The unmasked state after all recorded events. */
  readonly state: () => RunState;
  /**
   * Stores the events of a decision, which lead to `run`. Returns the events that count, since a host may end a run that
   * it cannot store in another way, and the events as stored.
   */
  readonly record: (events: readonly RunEvent[], run: RunState) => Recorded;
  /** An event to record before the next message, such as a change of the clock; null: there is none. */
  readonly noticed: () => RunEvent | null;
  /** Called when all orders of a decision are given. */
  readonly decided: (stored: readonly StoredEvent[]) => void;
  /** How many steps may be scheduled beyond the limit of steps that run at once. */
  readonly ahead: () => number;
  /** The work before the final event, which is recorded when it resolves; null: there is none. */
  readonly cleanUp: () => Promise<void> | null;
  /** Called with an internal error, after which the driver reads no more. */
  readonly fail: (error: unknown) => void;
  readonly orders: Orders;
};

/** Events as they count for the run, and as stored. */
export type Recorded = { readonly events: readonly RunEvent[]; readonly stored: readonly StoredEvent[] };

/** What a driver orders. */
export type Orders = {
  /** Makes an attempt at a step. */
  readonly attempt: (task: StepTask) => void;
  /** Asks the attempt at a step to end. */
  readonly end: (step: string) => void;
  /** Asks the attempts at all steps to end, or at the instances of a fan-out. */
  readonly stop: (fanOut?: string) => void;
  /** Ends the evaluation of the environment: the run is stopped, or over. */
  readonly stopPreparation: () => void;
  /** Kills all attempts. */
  readonly kill: () => void;
  /** Sets variables for all attempts that follow. */
  readonly set: (outputs: Outputs) => void;
  /** A result is recorded that no attempt waits for yet. */
  readonly resultRecorded: () => void;
  /** Sends notifications about a step or, if it is null, about the run. */
  readonly notify: (step: Step | null, status: NoticeStatus) => void;
  /** Closes the run. */
  readonly finish: (status: FinishedStatus) => void;
};

/**
 * Drives one run: a mailbox around `transition`. For each message in turn, its events are recorded and acted on, so that the
 * events of an attempt that ends at once never interleave with another's. It knows no process, file or network: an engine
 * hosts it.
 */
export class Driver {
  readonly timers: RunTimers;
  readonly #host: DriverHost;
  readonly #request: DrivenRequest;
  readonly #results: StepResults;
  readonly #limit: RunLimit;
  readonly #late: LateTimers;
  readonly #messages: Message[] = [];
  #isReading = false;
  /** All steps and handlers have ended; only the clean-up before the final event is left. */
  #isEnding = false;

  constructor(request: DrivenRequest, host: DriverHost) {
    this.#request = request;
    this.#host = host;
    this.#results = new StepResults(request.workflow, host);
    this.timers = new RunTimers(host.clock);
    this.#limit = new RunLimit(host.clock, this.timers, () => this.#timeOut());
    this.#late = new LateTimers(this.timers);
  }

  /** Whether the outcome of the run is decided. */
  get isOver(): boolean {
    return this.#isEnding || isFinished(this.#host.state());
  }

  /** The result of a step as JSON, by a name of the step; undefined until it is settled. */
  resultOf(name: string): string | undefined {
    return this.#results.of(this.#host.state(), name);
  }

  /** Starts the first steps, or ends the run that cannot start. `restored`: what it takes over, by default as requested. */
  start(prepared: PreparedRun, restored = this.#request.restored): void {
    const at = this.#host.clock.now();
    if ('problem' in prepared) {
      this.post({ type: 'refuse', at, reason: 'error', message: prepared.problem });
      return;
    }
    const { unmet, ...start } = prepared;
    this.note({ type: 'run.prepared', at, ...start });
    if (unmet !== null) this.post({ type: 'refuse', at, reason: 'precondition', message: unmet });
    else this.post({ type: 'start', at, restored });
  }

  /** What is left of the time limit of the run, in milliseconds; 0: it has none. */
  get limitMs(): number {
    return this.#limit.leftMs;
  }

  /**
   * Continues a run that another driver has left when no attempt was in progress: sets its timers, and gives the orders
   * for attempts that were scheduled. `limitMs`: what was left of the time limit.
   */
  resume(limitMs: number): void {
    const { clock, orders, state } = this.#host;
    const run = state();
    this.#limit.start(limitMs);
    this.#limit.hold(isHeld(run));
    if (run.delayedUntil !== null) this.#delay(run.delayedUntil);
    this.#watchRun();
    for (const step of firstItems(run.nodes, run.nodes.length)) {
      const { name, attempt, status, until, waitingFor } = step;
      if (step.startedAt !== null && !isSettled(step)) this.#watchStep(name);
      if (isActive(step)) orders.attempt(stepTask(run, name, attempt, this.#results));
      else if (status === 'waiting' && (until !== null || waitingFor === 'approval')) {
        this.#wake({ step: name, attempt }, Math.max(until ?? never, clock.now()));
      }
    }
  }

  /** Takes an input. */
  post(input: RunInput): void {
    this.#put(input);
  }

  /** Records an event that needs no decision. */
  note(event: RunEvent): void {
    this.#put({ type: 'note', event });
  }

  /** Asks the run to end. */
  cancel(asked: { readonly reason: CancelReason; readonly message: string; readonly force: boolean }): void {
    this.post({ type: 'cancel', at: this.#host.clock.now(), ...asked });
  }

  /** Answers a step that waits for approval. */
  answer(given: GivenAnswer): void {
    this.post({ type: 'answer', at: this.#host.clock.now(), ...given });
  }

  /** Messages put while one is read wait; after an internal error they stay unread. */
  #put(message: Message): void {
    try {
      const noticed = this.#host.noticed();
      if (noticed !== null) this.#messages.push({ type: 'note', event: noticed });
      this.#messages.push(message);
      if (this.#isReading) return;
      this.#isReading = true;
      for (let next = this.#messages.shift(); next; next = this.#messages.shift()) this.#read(next);
      this.#isReading = false;
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #read(message: Message): void {
    const state = this.#host.state();
    // After the end only warnings are recorded, for example about a mail.
    if (message.type === 'note' && isFinished(state) && message.event.type !== 'run.warned') return;
    // The outcome of the run is already decided.
    if (message.type !== 'note' && this.#isEnding) return;
    const decision =
      message.type === 'note'
        ? { run: evolve(state, message.event), events: [message.event] }
        : transition(state, message, this.#host.ahead());
    this.#carryOut(this.#isEnding ? decision : this.#cleanUpFirst(decision));
  }

  #carryOut(decision: Decision): void {
    if (decision.events.length === 0) return;
    const { events, stored } = this.#host.record(decision.events, decision.run);
    this.#limit.hold(isHeld(this.#host.state()));
    for (const event of events) this.#act(event);
    this.#host.decided(stored);
  }

  /**
   * Holds back the final event of a decision until the clean-up is done: after a crash in between, the run is still
   * unfinished and its next owner cleans up.
   */
  #cleanUpFirst(decision: Decision): Decision {
    const end = decision.events.at(-1);
    const cleaning = end?.type === 'run.finished' ? this.#host.cleanUp() : null;
    if (end === undefined || cleaning === null) return decision;
    this.#isEnding = true;
    cleaning.then(
      () => this.note({ ...end, at: this.#host.clock.now() }),
      (error: unknown) => this.#host.fail(error),
    );
    const events = decision.events.slice(0, -1);
    return { run: events.reduce(evolve, this.#host.state()), events };
  }

  /** Gives the orders that follow from a recorded event, and sets timers. */
  #act(event: RunEvent): void {
    const { orders, state } = this.#host;
    switch (event.type) {
      case 'run.owned':
        this.#watchRun();
        break;
      case 'run.started':
        this.#limit.start(state().policies.timeoutMs ?? 0);
        this.#watchRun();
        // Before the start, variables of the notification had no values.
        if (state().lateAt !== undefined) this.#notifyLate();
        break;
      case 'run.late':
        this.#late.cancel(null);
        if (state().startedAt !== null) this.#notifyLate();
        break;
      case 'step.late':
        this.#notifyLate();
        break;
      case 'step.started':
      case 'step.expanded':
        this.#watchStep(event.step);
        break;
      case 'step.scheduled':
        orders.attempt(stepTask(state(), event.step, event.attempt, this.#results));
        break;
      case 'step.ending':
        orders.end(event.step);
        break;
      case 'step.waiting':
        this.#publish(event.step, 'outputs' in event.outcome ? event.outcome.outputs : {});
        this.#wake(event, event.until);
        break;
      case 'step.held':
        this.#hold(event);
        break;
      case 'step.finished':
        this.#late.cancel(event.step);
        this.#publish(event.step, event.outputs);
        orders.resultRecorded();
        orders.notify(stepNode(state(), event.step), event.status);
        break;
      case 'step.canceling':
        orders.stop(event.step);
        break;
      case 'run.delayed':
        this.#delay(event.until);
        break;
      case 'run.canceling':
        orders.stopPreparation();
        if (event.force) orders.kill();
        else orders.stop();
        break;
      case 'run.handling':
        this.#limit.stop();
        break;
      case 'run.finished':
        this.#late.clear();
        orders.stopPreparation();
        orders.finish(event.status);
        break;
      case 'run.created':
      case 'run.queued':
      case 'run.prepared':
      case 'run.blocked':
      case 'run.warned':
      case 'step.restored':
      case 'step.blocked':
      case 'step.acquired':
      case 'step.outdated':
      case 'step.ready':
      case 'step.contained':
      case 'artifact.kept':
      case 'step.serving':
      case 'step.answered':
      case 'step.marked':
        break;
    }
  }

  /**
   * Sets the outputs of a step as variables. Those of an instance are part of the output of its fan-out, and published
   * ones belong to the result of their step.
   */
  #publish(step: string, outputs: Outputs): void {
    const { instanceOf, published } = stepNode(this.#host.state(), step);
    if (instanceOf === undefined && published === undefined) this.#host.orders.set(outputs);
  }

  #hold(event: Extract<RunEvent, { type: 'step.held' }>): void {
    const { clock, orders, state } = this.#host;
    const { step, until, outputs } = event;
    orders.set(outputs);
    orders.resultRecorded();
    this.#watchStep(step);
    // Without a limit, the timer only keeps this process alive until the run ends.
    this.#wake(event, until ?? never);
    const given = unattendedAnswer(stepNode(state(), step), this.#request.onApproval);
    if (given !== null) this.post({ type: 'answer', at: clock.now(), step, ...given });
    else orders.notify(null, 'waiting');
  }

  #wake({ step, attempt }: { readonly step: string; readonly attempt: number }, until: number): void {
    this.timers.at(until, (at) => this.post({ type: 'timer-fired', at, step, attempt }));
  }

  #delay(until: number): void {
    this.timers.at(until, (at) => this.post({ type: 'delay-over', at }));
  }

  /** Waits for the time at which the run is late; it may have passed before the run began. */
  #watchRun(): void {
    const time = lateTime(this.#host.state());
    const { clock } = this.#host;
    if (time !== null && time <= clock.now()) this.post({ type: 'late-due', at: clock.now(), step: null });
    else this.#late.set(null, time, (at) => this.post({ type: 'late-due', at, step: null }));
  }

  /** Waits for the time at which a step is late, from its first start; a fan-out is late as a whole. */
  #watchStep(step: string): void {
    const run = this.#host.state();
    const { lateMs, instanceOf } = stepNode(run, step);
    if (lateMs === undefined || instanceOf !== undefined) return;
    const { startedAt, lateAt } = stepState(run, step);
    const time = lateAt === undefined ? (startedAt ?? this.#host.clock.now()) + lateMs : null;
    this.#late.set(step, time, (at) => this.post({ type: 'late-due', at, step }));
  }

  #notifyLate(): void {
    const { orders, state } = this.#host;
    if (state().policies.late?.isQuiet !== true) orders.notify(null, 'late');
  }

  #timeOut(): void {
    const message = `timed out after ${(this.#host.state().policies.timeoutMs ?? 0) / 1000}s`;
    this.cancel({ reason: 'timeout', message, force: false });
  }
}

/** The answer to an approval of a run for which no person is asked; null if one is. */
function unattendedAnswer(
  { approval }: Pick<Step, 'approval'>,
  onApproval: RunRequest['onApproval'],
): Omit<GivenAnswer, 'step'> | null {
  const inputs = approval?.inputs ?? [];
  const missing = inputs.find(({ default: value, rule }) => rule.required === true && value === '');
  if (onApproval === undefined) return null;
  if (onApproval === 'reject')
    return { decision: 'rejected', by: null, comment: 'the run is not interactive', inputs: {} };
  if (missing !== undefined) {
    return { decision: 'rejected', by: null, comment: `the input "${missing.name}" is required`, inputs: {} };
  }
  const defaults = Object.fromEntries(inputs.map((input) => [input.name, input.default]));
  return { decision: 'approved', by: null, comment: 'by --on-approval', inputs: defaults };
}
