import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { CancelReason, FinishedStatus, RunEvent, RunInput, StoredEvent } from '#core/run/run.ts';
import { initialRun, isFinished, isHeld, type RunState } from '#core/run/run-state.ts';
import { startsNoMore } from '#core/run/settle.ts';
import { type Decision, transition } from '#core/run/transition.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import { EndSignal } from '#processes/end-signal.ts';
import type { RunJournal, StopRequest } from '#store/store.ts';
import { ClockChanges } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { ActiveRun, Engine, GivenAnswer, RunRequest, RunWatcher } from '../engine.ts';
import { Background } from './background.ts';
import type { DescriptorGate } from './descriptor-gate.ts';
import type { LocalEngineOptions } from './engine-options.ts';
import { createdEvent } from './new-run.ts';
import { Notices } from './notices.ts';
import { prepare } from './prepare.ts';
import { RunEffects } from './run-effects.ts';
import { RunRecord } from './run-record.ts';
import { RunLimit, RunTimers } from './run-timers.ts';
import { RunParts } from './shared-parts.ts';
import { RunningAttempts, StepAttempts } from './step-attempts.ts';
import { StepRunner } from './step-runner.ts';
import { graceOf } from './subworkflow.ts';

/** Handles messages one at a time, in order; messages put while one is being read wait. */
class Mailbox<Message> {
  readonly #read: (message: Message) => void;
  readonly #messages: Message[] = [];
  #isReading = false;

  constructor(read: (message: Message) => void) {
    this.#read = read;
  }

  /** Throws what the reader throws; later messages then stay unread. */
  put(message: Message): void {
    this.#messages.push(message);
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (let next = this.#messages.shift(); next; next = this.#messages.shift()) this.#read(next);
    } finally {
      this.#isReading = false;
    }
  }
}

/** Shorter runs end before a stop request could arrive, so they do not open a socket. */
const listenAfterMs = 100;

/** Messages in the mailbox: inputs for `transition`, and events that need no decision. */
type Message = RunInput | { readonly type: 'note'; readonly event: RunEvent };

/** Resources of a run besides its request. */
export type LocalRunParts = {
  readonly journal: RunJournal;
  readonly secrets: RunSecrets;
  readonly watcher: RunWatcher;
  /** Events already in the journal of an accepted run; else empty. */
  readonly earlier: readonly StoredEvent[];
  /** The descriptor gate of this process. */
  readonly gate: DescriptorGate;
};

/**
 * One run in this process. A mailbox around `transition`: for each input in turn, its events are stored, folded, acted
 * on and reported, so that the events of an executor that ends at once never interleave with another's.
 */
export class LocalRun {
  readonly finished: Promise<RunState>;
  readonly #options: LocalEngineOptions & { readonly engine: Engine };
  readonly #request: RunRequest;
  readonly #journal: RunJournal;
  readonly #record: RunRecord;
  readonly #secrets: RunSecrets;
  readonly #runner: StepRunner;
  readonly #watcher: RunWatcher;
  readonly #attempts: RunningAttempts;
  readonly #stepAttempts: StepAttempts;
  readonly #background: Background;
  readonly #shared = new RunParts();
  readonly #notices: Notices;
  readonly #effects: RunEffects;
  readonly #timers: RunTimers;
  readonly #earlier: readonly StoredEvent[];
  readonly #preparation = new EndSignal();
  readonly #mailbox = new Mailbox<Message>((message) => this.#read(message));
  /** All steps and handlers have ended; their background processes are being ended. */
  #isEnding = false;
  /** `rest` was called, or is absent. */
  #isResting: boolean;
  readonly #limit: RunLimit;
  readonly #clockChanges: ClockChanges;
  #resolve: (state: RunState) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(
    options: LocalEngineOptions & { readonly engine: Engine },
    request: RunRequest,
    { journal, secrets, watcher, earlier, gate }: LocalRunParts,
  ) {
    const { workflow } = request;
    this.#options = options;
    this.#request = request;
    this.#journal = journal;
    this.#secrets = secrets;
    const warn = (step: string | null, message: string) => this.#warn(step, message);
    this.#runner = new StepRunner(options, request, { journal, secrets, warn, shared: this.#shared });
    this.#watcher = watcher;
    this.#isResting = options.background.rest === undefined;
    this.#earlier = earlier;
    this.#timers = new RunTimers(options.clock);
    this.#clockChanges = new ClockChanges(options.clock);
    this.#limit = new RunLimit(options.clock, this.#timers, () => this.#timeOut());
    this.#attempts = new RunningAttempts(options.clock, graceOf(request));
    this.#background = new Background(options.background, { runId: request.runId, logs: journal.logs.directory });
    const onFailure = (error: WfError) => this.#storageFailed(error);
    const policies = request.onApproval === undefined ? workflow : { ...workflow, isUnattended: true as const };
    this.#record = new RunRecord(initialRun(buildGraph(workflow), policies), { journal, secrets, onFailure });
    this.#stepAttempts = new StepAttempts({
      clock: options.clock,
      graceMs: graceOf(request),
      record: this.#record,
      secrets,
      runner: this.#runner,
      running: this.#attempts,
      background: this.#background,
      gate,
      post: (input) => this.#post(input),
      warn,
    });
    this.#notices = new Notices(options.notify, {
      workflow,
      record: this.#record,
      secrets,
      runner: this.#runner,
      logs: journal.logs,
      sources: request.sources,
      warn,
    });
    this.#effects = new RunEffects({
      clock: options.clock,
      request,
      record: this.#record,
      runner: this.#runner,
      attempts: this.#attempts,
      stepAttempts: this.#stepAttempts,
      timers: this.#timers,
      limit: this.#limit,
      notices: this.#notices,
      preparation: this.#preparation,
      post: (input) => this.#post(input),
      finish: (status) => this.#finish(status),
      guard: (work) => this.#guard(work),
    });
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The masked state. */
  get state(): RunState {
    return this.#record.shown;
  }

  /** The unmasked state, for the parent run. */
  get result(): RunState {
    return this.#record.state;
  }

  get failedChildren(): ActiveRun['failedChildren'] {
    return this.#runner.failedChildren;
  }

  /** Stores the first events, then evaluates the environment and starts the run. */
  begin(): void {
    const at = this.#options.clock.now();
    if (this.#earlier.length === 0) this.#note(createdEvent(this.#request, at));
    else this.#resume(this.#earlier);
    this.#note({ type: 'run.owned', at, owner: this.#options.owner });
    this.#timers.at(this.#earlier.length === 0 ? at + listenAfterMs : at, () => this.#listen());
    this.#secrets.warnOfShort((message) => this.#warn(null, message));
    for (const path of this.#request.dotenv?.missing ?? []) this.#warn(null, `dotenv file "${path}" does not exist`);
    this.#guard(this.#prepare());
  }

  /** A stop after the end of the run, or a kill at any time, also abandons pending notifications. */
  cancel(asked: { reason: CancelReason; message: string; force: boolean }): void {
    const isOver = this.#isEnding || isFinished(this.result);
    const isUnwanted = asked.force || (asked.reason === 'stop' && isOver);
    if (isUnwanted) this.#notices.abandon(asked.message);
    this.#post({ type: 'cancel', at: this.#options.clock.now(), ...asked });
  }

  /** Answers a step that waits for approval. */
  answer(given: GivenAnswer): void {
    this.#post({ type: 'answer', at: this.#options.clock.now(), ...given });
  }

  /** Restores the real parameters, which were stored masked. */
  #resume(stored: readonly StoredEvent[]): void {
    const { params } = this.#request;
    const real = stored.map((event) => (event.type === 'run.created' ? { ...event, params } : event));
    this.#record.resume(stored, real);
    for (const event of stored) this.#watcher(event, this.state);
  }

  /** Listens for requests from other processes. */
  #listen(): void {
    const stop = ({ by, force }: StopRequest) => this.cancel({ reason: 'stop', message: `stopped by ${by}`, force });
    const gone = (error: WfError) => this.#storageFailed(error);
    this.#guard(this.#journal.listen({ stop, answer: (given) => this.answer(given), gone }));
  }

  async #prepare(): Promise<void> {
    const own = { journal: this.#journal, secrets: this.#secrets, signal: this.#preparation };
    const prepared = await prepare(this.#options, this.#request, own);
    const at = this.#options.clock.now();
    if (prepared.variables === null) {
      this.#post({ type: 'refuse', at, reason: prepared.reason, message: prepared.message });
      return;
    }
    try {
      this.#runner.prepare(prepared.variables);
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      this.#post({ type: 'refuse', at, reason: 'error', message: error.message });
      return;
    }
    const { params, numbers } = prepared;
    this.#note({ type: 'run.prepared', at, params, ...(numbers === undefined ? {} : { numbers }) });
    if (prepared.unmet !== null) this.#post({ type: 'refuse', at, reason: 'precondition', message: prepared.unmet });
    else this.#post({ type: 'start', at, restored: this.#request.restored });
  }

  #note(event: RunEvent): void {
    this.#put({ type: 'note', event });
  }

  #post(input: RunInput): void {
    this.#put(input);
  }

  #put(message: Message): void {
    try {
      const setMs = this.#clockChanges.take();
      if (setMs !== 0) this.#mailbox.put({ type: 'note', event: clockSet(this.#options.clock.now(), setMs) });
      this.#mailbox.put(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  #read(message: Message): void {
    // After the end only warnings are recorded, for example about a mail.
    if (message.type === 'note' && isFinished(this.result) && message.event.type !== 'run.warned') return;
    // The outcome of the run is already decided.
    if (message.type !== 'note' && this.#isEnding) return;
    const decision =
      message.type === 'note'
        ? { run: evolve(this.result, message.event), events: [message.event] }
        : transition(this.result, message, this.#stepAttempts.slots.ahead);
    this.#take(this.#isEnding ? decision : this.#endFirst(decision));
  }

  #take(decision: Decision): void {
    if (decision.events.length === 0) return;
    const { events, stored } = this.#record.add(decision.events, decision.run);
    this.#limit.hold(isHeld(this.result));
    for (const event of events) this.#effects.act(event);
    this.#stepAttempts.slots.admit();
    if (!this.#isResting && !this.#secrets.areInPlay && startsNoMore(this.result)) this.#rest();
    // Watchers may be slow; act on the events first so that the next steps need not wait.
    for (const event of stored) this.#watcher(event, this.state);
  }

  /**
   * Holds back the final event of a decision until the steps' background processes and shared parts have ended: after a
   * crash in between, the run is still unfinished and its next owner ends them.
   */
  #endFirst(decision: Decision): Decision {
    const end = decision.events.at(-1);
    if (end?.type !== 'run.finished' || !(this.#background.isUsed || this.#shared.areUsed)) return decision;
    this.#isEnding = true;
    this.#rest();
    this.#guard(this.#endBackground().then(() => this.#note({ ...end, at: this.#options.clock.now() })));
    const events = decision.events.slice(0, -1);
    return { run: events.reduce(evolve, this.result), events };
  }

  #rest(): void {
    if (!this.#isResting) this.#options.background.rest?.(this.#request.runId);
    this.#isResting = true;
  }

  async #endBackground(): Promise<void> {
    const { nodes } = this.result.graph;
    const spared = new Set(nodes.flatMap(({ name, leaveBackground }) => (leaveBackground ? [name] : [])));
    await this.#background.end(spared, graceOf(this.#request));
    const isForced = this.result.cancellation?.force === true;
    for (const problem of await this.#shared.close(isForced)) this.#warn(null, problem);
  }

  /** Called while a message is read, by a flush, or when the files of the run are gone. */
  #storageFailed({ message }: WfError): void {
    this.cancel({ reason: 'storage', message, force: false });
  }

  #timeOut(): void {
    const message = `timed out after ${(this.result.policies.timeoutMs ?? 0) / 1000}s`;
    this.cancel({ reason: 'timeout', message, force: false });
  }

  #warn(step: string | null, message: string): void {
    this.#note(warning(this.#options.clock.now(), step, message));
  }

  async #finish(status: FinishedStatus): Promise<void> {
    this.#timers.clear();
    this.#runner.close();
    this.#guard(this.#notices.send(null, status));
    if (this.#notices.arePending) await Promise.all([this.#record.flush(), this.#notices.settled(this.#options.clock)]);
    const left = await this.#record.close();
    // The journal is closed: only the watcher can be notified.
    if (left !== null) this.#watcher({ ...warning(this.#options.clock.now(), null, left), seq: 0 }, this.state);
    this.#resolve(this.state);
  }

  /** A rejection here is an internal error: fail the run for everyone awaiting it. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#attempts.kill();
    this.#timers.clear();
    this.#reject(error);
  }
}

function warning(at: number, step: string | null, message: string): Extract<RunEvent, { type: 'run.warned' }> {
  return { type: 'run.warned', at, step, message };
}

function clockSet(at: number, ms: number): RunEvent {
  const change = ms < 0 ? 'back' : 'forward';
  const message = `the clock of this machine was set ${change} by ${Math.round(Math.abs(ms) / 1000)}s`;
  return { ...warning(at, null, message), clockSetMs: ms };
}
