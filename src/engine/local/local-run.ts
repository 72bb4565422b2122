import { buildGraph } from '#core/graph.ts';
import { failed } from '#core/run/outcome.ts';
import type { CancelReason, FinishedStatus, Outcome, Outputs, RunEvent, StoredEvent } from '#core/run/run.ts';
import { initialRun, isHeld, type RunState } from '#core/run/run-state.ts';
import { startsNoMore } from '#core/run/settle.ts';
import { labelsText, selectingSteps } from '#core/selectors.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import { EndSignal } from '#processes/end-signal.ts';
import type { RunJournal, StopRequest } from '#store/store.ts';
import { ClockChanges } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { AttemptHost } from '../attempt/attempt-context.ts';
import { Background } from '../attempt/background.ts';
import {
  type LockAsker,
  lockLimitMs,
  namedLocks,
  type QueueSlot,
  RunLocks,
  type TakenLocks,
} from '../attempt/run-locks.ts';
import { RunningAttempts } from '../attempt/running-attempts.ts';
import { StepRunner } from '../attempt/step-runner.ts';
import { takenOver } from '../attempt/take-over.ts';
import { graceOf } from '../driver/child-run.ts';
import { createdEvent } from '../driver/created-event.ts';
import { Driver, type DriverHost, type PreparedRun } from '../driver/driver.ts';
import { notStarted, type StepTask } from '../driver/step-task.ts';
import type { FailedChild, GivenAnswer, RunHost, RunRequest, RunWatcher } from '../engine.ts';
import type { DescriptorGate } from './descriptor-gate.ts';
import type { LocalEngineOptions } from './engine-options.ts';
import { Notices } from './notices.ts';
import { RunRecord } from './run-record.ts';
import { StepAttempts } from './step-attempts.ts';
import { runSubworkflow } from './subworkflow.ts';

/** Shorter runs end before a stop request could arrive, so they do not open a socket. */
const LISTEN_AFTER_MS = 100;

/** Longest wait before a result that no step depends on is flushed to disk. */
const FLUSH_DELAY_MS = 10;

/** Resources of a run besides its request. */
export type LocalRunParts = {
  readonly journal: RunJournal;
  readonly secrets: RunSecrets;
  readonly watcher: RunWatcher;
  /** Events already in the journal of an accepted run; else empty. */
  readonly earlier: readonly StoredEvent[];
  readonly gate: DescriptorGate;
};

/** One run in this process: the host of its driver, with the journal and the attempts as processes of this machine. */
export class LocalRun {
  readonly finished: Promise<RunState>;
  /** The last child run of each step whose child run failed. */
  readonly failedChildren = new Map<string, FailedChild>();
  readonly #options: LocalEngineOptions & { readonly host: RunHost };
  readonly #request: RunRequest;
  readonly #journal: RunJournal;
  readonly #record: RunRecord;
  readonly #secrets: RunSecrets;
  readonly #runner: StepRunner;
  readonly #watcher: RunWatcher;
  readonly #attempts: RunningAttempts;
  readonly #stepAttempts: StepAttempts;
  readonly #background: Background;
  readonly #notices: Notices;
  readonly #driver: Driver;
  readonly #locks: RunLocks;
  /** Its slot in the queue of its workflow; null without one, and for a sub-workflow. */
  #slot: QueueSlot | null = null;
  #runLocks: TakenLocks | null = null;
  readonly #earlier: readonly StoredEvent[];
  readonly #preparation = new EndSignal();
  #isFlushDue = false;
  /** `rest` was called, or is absent. */
  #isResting: boolean;
  readonly #clockChanges: ClockChanges;
  #resolve: (state: RunState) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(
    options: LocalEngineOptions & { readonly host: RunHost },
    request: RunRequest,
    { journal, secrets, watcher, earlier, gate }: LocalRunParts,
  ) {
    const { workflow } = request;
    this.#options = options;
    this.#request = request;
    this.#journal = journal;
    this.#secrets = secrets;
    const warn = (step: string | null, message: string) => this.#warn(step, message);
    const keepFailed = (step: string, child: FailedChild) => this.failedChildren.set(step, child);
    this.#locks = new RunLocks(options, request.outerLocks ?? [], (input) => {
      if (input.type === 'attempt-blocked') this.#attempts.suspend(input.step);
      if (input.type === 'attempt-acquired') this.#attempts.resume(input.step);
      this.#driver.post(input);
    });
    const locksAround: RunLocks['around'] = (step) => this.#locks.around(step);
    const enterQueue: RunLocks['enterQueue'] = (...waiting) => this.#locks.enterQueue(...waiting);
    const child = { ...options, family: secrets.shared, keepFailed, enterQueue, locksAround };
    const runWorkflow: AttemptHost['runWorkflow'] = (asked, attempt) => runSubworkflow(child, request, asked, attempt);
    this.#runner = new StepRunner({ ...options, runWorkflow }, request, { files: journal, secrets, warn });
    this.#watcher = watcher;
    this.#isResting = options.background.rest === undefined;
    this.#earlier = earlier;
    this.#clockChanges = new ClockChanges(options.clock);
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
      takeLocks: (task, signal) => this.#takeLocks(task, signal),
      post: (input) => this.#driver.post(input),
      warn,
    });
    this.#notices = new Notices(options.notify, {
      workflow,
      record: this.#record,
      secrets,
      scope: (name) => this.#runner.scope((step) => this.#driver.resultOf(step))(name),
      children: this.failedChildren,
      logs: journal.logs,
      artifacts: journal.artifacts,
      sources: request.sources,
      warn,
    });
    this.#driver = new Driver(request, this.#hosting());
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

  /** Stores the first events, then evaluates the environment and starts the run. */
  begin(): void {
    const at = this.#options.clock.now();
    if (this.#earlier.length === 0) this.#driver.note(createdEvent(this.#request, at));
    else this.#resume(this.#earlier);
    this.#driver.note({ type: 'run.owned', at, owner: this.#options.owner });
    this.#driver.timers.at(this.#earlier.length === 0 ? at + LISTEN_AFTER_MS : at, () => this.#listen());
    this.#secrets.warnOfShort((message) => this.#warn(null, message));
    for (const path of this.#request.dotenv?.missing ?? []) this.#warn(null, `dotenv file "${path}" does not exist`);
    if (selectingSteps(this.#request.workflow).length > 0 && !this.#options.needsSelected)
      this.#warn(null, 'workerSelector has no effect without an engine: all steps run on this machine');
    this.#guard(this.#prepare());
  }

  /** A stop after the end of the run, or a kill at any time, also abandons pending notifications. */
  cancel(asked: { reason: CancelReason; message: string; force: boolean }): void {
    const isUnwanted = asked.force || (asked.reason === 'stop' && this.#driver.isOver);
    if (isUnwanted) this.#notices.abandon(asked.message);
    this.#driver.cancel(asked);
  }

  /** Answers a step that waits for approval. */
  answer(given: GivenAnswer): void {
    this.#driver.answer(given);
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
    const { queue } = this.#request.workflow;
    if (queue !== undefined && this.#request.trigger !== 'workflow' && !(await this.#enterQueue(queue))) return;
    const [selecting] = this.#options.needsSelected ? selectingSteps(this.#request.workflow) : [];
    if (selecting !== undefined) {
      const needs = `"${selecting.name}" needs a worker with ${labelsText(selecting.workerSelector)}`;
      this.#driver.start({ problem: `${needs}, and there is no engine` });
      return;
    }
    const prepared = await this.#runner.prepare(this.#preparation, this.result.createdAt);
    const ready = 'problem' in prepared || prepared.unmet !== null ? prepared : await this.#withLocks(prepared);
    if (ready !== null) this.#start(ready);
  }

  /** The run fails to start if the disk refuses the artifacts that it takes over. */
  #start(ready: PreparedRun): void {
    try {
      const isRefused = 'problem' in ready || ready.unmet !== null;
      const { artifacts } = this.#journal;
      const warn = (step: string, message: string) => this.#warn(step, message);
      this.#driver.start(ready, isRefused ? [] : takenOver(this.#request, artifacts, warn));
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      this.#driver.start({ problem: error.message });
    }
  }

  /** Only runs of a daemon wait for their queue, but all count. Resolves to whether the run continues. */
  async #enterQueue(queue: string): Promise<boolean> {
    const waits = this.#earlier.some((event) => event.type === 'run.queued' && event.lasting);
    try {
      this.#slot = await this.#locks.enterOwnQueue(queue, this.#asker(null), waits);
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      this.#driver.start({ problem: error.message });
    }
    return this.#slot !== null;
  }

  /** Takes the locks of the run; null if it was stopped meanwhile. */
  async #withLocks(prepared: PreparedRun): Promise<PreparedRun | null> {
    const { locks = [], lockTimeoutMs: limitMs = 0 } = this.#request.workflow;
    if (locks.length === 0) return prepared;
    try {
      const named = namedLocks(
        locks,
        this.#runner.scope(() => undefined),
        this.#holdsSecret,
      );
      const taken = await this.#locks.ofRun(named, { ...this.#asker(null), limitMs });
      if ('refusal' in taken) return taken.refusal && { problem: taken.refusal.message };
      this.#runLocks = taken;
      return prepared;
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      return { problem: error.message };
    }
  }

  readonly #holdsSecret = (text: string) => this.#secrets.shared.mask(text) !== text;

  /** The run as one that asks for locks, or a step of it. */
  #asker(step: string | null): Omit<LockAsker, 'limitMs'> {
    const { runId, workflow } = this.#request;
    return {
      by: { runId, workflow: workflow.name, step },
      stop: this.#preparation,
      blocked: (why, name, holder) =>
        this.#driver.note({ type: 'run.blocked', at: this.#options.clock.now(), why, name, holder }),
    };
  }

  async #takeLocks(task: StepTask, signal: EndSignal): Promise<TakenLocks | { readonly outcome: Outcome }> {
    const { step, number } = task;
    const { locks = [] } = step;
    const limitMs = lockLimitMs(step, this.result.cancellation !== null);
    try {
      const named = namedLocks(locks, this.#runner.scopeOf(task), this.#holdsSecret);
      const { by } = this.#asker(step.name);
      const taken = await this.#locks.ofAttempt(named, { step, number, signal }, { by, limitMs });
      return 'refusal' in taken ? { outcome: taken.refusal ?? notStarted } : taken;
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      return { outcome: failed(error.message) };
    }
  }

  #hosting(): DriverHost {
    const { clock } = this.#options;
    const { logs, artifacts } = this.#journal;
    return {
      clock,
      state: () => this.result,
      record: (events, run) => this.#record.add(events, run),
      noticed: () => {
        const setMs = this.#clockChanges.take();
        return setMs === 0 ? null : clockSet(clock.now(), setMs);
      },
      decided: (stored) => this.#decided(stored),
      ahead: () => this.#stepAttempts.slots.ahead,
      cleanUp: () => this.#cleanUp(),
      logsOf: (step, attempt) => ({
        stdout: logs.pathOf(step, attempt, 'stdout'),
        stderr: logs.pathOf(step, attempt, 'stderr'),
      }),
      artifactsOf: (of) =>
        (artifacts && ('step' in of ? artifacts.pathOf(of.step) : artifacts.ofRun(of.runId))) ?? null,
      fail: (error) => this.#fail(error),
      orders: {
        attempt: (task) => this.#guard(this.#stepAttempts.make(task)),
        end: (step) => this.#attempts.end(step),
        stop: (fanOut) => this.#attempts.stop(fanOut),
        stopPreparation: () => void this.#preparation.abort('stop'),
        kill: () => this.#attempts.kill(),
        set: (outputs) => this.#set(outputs),
        resultRecorded: () => this.#flushSoon(),
        notify: (step, status) =>
          this.#guard(step === null ? this.#notices.send(null, status) : this.#notices.ofStep(step, status)),
        finish: (status) => this.#guard(this.#finish(status)),
      },
    };
  }

  #decided(stored: readonly StoredEvent[]): void {
    this.#stepAttempts.slots.admit();
    this.#slot?.hold(isHeld(this.result));
    if (!this.#isResting && !this.#secrets.areInPlay && startsNoMore(this.result)) this.#rest();
    // Watchers may be slow; the orders are given first so that the next steps need not wait.
    for (const event of stored) this.#watcher(event, this.state);
  }

  /** Ends the background processes and shared parts of the steps. */
  #cleanUp(): Promise<void> | null {
    if (!(this.#background.isUsed || this.#runner.shared.areUsed)) return null;
    this.#rest();
    return this.#endBackground();
  }

  /** If the disk refuses a large output, no step may start without it: the run fails as for its journal. */
  #set(outputs: Outputs): void {
    try {
      this.#runner.set(outputs);
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      this.#driver.cancel({ reason: 'storage', message: error.message, force: false });
    }
  }

  /** Flushes results that no step waits for together. */
  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#driver.timers.at(this.#options.clock.now() + FLUSH_DELAY_MS, () => {
      this.#isFlushDue = false;
      this.#guard(this.#record.flush());
    });
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
    for (const problem of await this.#runner.shared.close(isForced)) this.#warn(null, problem);
  }

  /** Called while a message is read, by a flush, or when the files of the run are gone. */
  #storageFailed({ message }: WfError): void {
    this.cancel({ reason: 'storage', message, force: false });
  }

  #warn(step: string | null, message: string): void {
    this.#driver.note(warning(this.#options.clock.now(), step, message));
  }

  async #finish(status: FinishedStatus): Promise<void> {
    this.#driver.timers.clear();
    this.#slot?.leave();
    for (const name of this.#runLocks?.release() ?? [])
      this.#warn(null, `the lock "${name}" was broken before the run ended`);
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
    this.#driver.timers.clear();
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
