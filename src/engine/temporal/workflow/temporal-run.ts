import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { withInstanceNodes } from '#core/fan-out/instances.ts';
import { buildGraph } from '#core/graph.ts';
import type { LockHolder, Outputs, RunEvent } from '#core/run/run.ts';
import { initialRun, isHeld, type RunState } from '#core/run/run-state.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { childResult, graceOf } from '../../driver/child-run.ts';
import { Driver, type DriverHost } from '../../driver/driver.ts';
import type { StepTask } from '../../driver/step-task.ts';
import type { NoticeStatus } from '../../engine.ts';
import {
  type AnswerOrder,
  type AttemptProgress,
  artifactsMark,
  type CarriedRun,
  type CleanUpOrder,
  type EngineEvents,
  type EngineResult,
  type EngineRun,
  type EngineWarning,
  labelsQueue,
  NAMES,
  openingEvents,
  type PrepareReport,
  type QueuedNotice,
  type StopOrder,
} from '../protocol.ts';
import { cleanUp, clock, reasonOf, scheduleWork } from './activities.ts';
import { ChildRuns } from './child-runs.ts';
import { carriedRun } from './continuation.ts';
import { Flights, type Report } from './flights.ts';
import { type OneWorker, oneWorkerOf } from './one-worker.ts';
import { QueueMembership } from './queue-membership.ts';
import { RunNotices } from './run-notices.ts';
import { TemporalLocks } from './temporal-locks.ts';

/** One run: the host of its driver. Attempts are activities on workers. */
export class TemporalRun {
  readonly queues: QueueMembership;
  readonly #run: EngineRun;
  readonly #driver: Driver;
  readonly #flights: Flights;
  /** Null: each attempt may be made by another worker. */
  readonly #oneWorker: OneWorker | null;
  readonly #notices: RunNotices;
  readonly #locks: TemporalLocks;
  readonly #carried: CarriedRun | null;
  #state: RunState;
  readonly #events: RunEvent[];
  #evaluated: CarriedRun['evaluated'] = null;
  #decided = { known: 0, decidedAt: 0 };
  readonly #secrets = new Set<string>();
  #outputs: Outputs = {};
  /** Workers that may have processes of the run. */
  readonly #workers = new Set<string>();
  readonly #preparation = new CancellationScope();
  readonly #stopsPreparation = new EndSignal();
  #isOver = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(run: EngineRun, carried: CarriedRun | null) {
    const { workflow, onApproval } = run.request;
    const graph = buildGraph(workflow);
    this.#run = run;
    this.#carried = carried;
    this.#events = [...(carried?.events ?? [])];
    if (carried === null) {
      const policies = onApproval === undefined ? workflow : { ...workflow, isUnattended: true as const };
      this.#state = initialRun(graph, policies);
      this.#learn(run.secrets ?? []);
    } else {
      const { state, outputs, evaluated, secrets, workers } = carried;
      this.#state = { ...state, graph: withInstanceNodes(graph, state.nodes) };
      this.#outputs = outputs;
      this.#evaluated = evaluated;
      this.#learn(secrets);
      for (const worker of workers) this.#workers.add(worker);
    }
    this.#driver = new Driver(run.request, this.#hosting());
    const fail = (error: unknown) => this.#fail(error);
    const learn = (secrets: readonly string[]) => this.#learn(secrets);
    this.#locks = new TemporalLocks({
      run,
      carried: carried?.locks,
      outputs: () => this.#outputs,
      isCanceled: () => this.#state.cancellation !== null,
      driver: this.#driver,
    });
    const locksAround = (step: string) => this.#locks.around(step);
    const labels = () => this.#evaluated?.labels ?? {};
    this.#oneWorker = oneWorkerOf(run, carried, { lostAfterMs: run.lostAfterMs, labels, fail });
    const worker = () => this.#oneWorker?.name ?? null;
    const children = new ChildRuns({ run, secrets: () => [...this.#secrets], worker, locksAround, learn, fail });
    this.#flights = new Flights(
      {
        lostAfterMs: run.lostAfterMs,
        outputs: () => this.#outputs,
        queueOf: (step) => labelsQueue(this.#evaluated?.labels?.[step] ?? ''),
        oneWorker: this.#oneWorker,
        graceMs: graceOf(run.request),
        takeLocks: (task, stop) => this.#locks.ofAttempt(task, stop),
        ended: (task, report) => this.#ended(task, report),
        progress: (report) => this.progress(report),
        warn: (warning) => this.#warn(warning),
        lost: (worker) => this.#workers.delete(worker),
        fail,
      },
      children,
    );
    this.#notices = new RunNotices({
      workflow,
      lostAfterMs: run.lostAfterMs,
      state: () => this.#state,
      events: () => (carried?.after ?? 0) + this.#events.length,
      outputs: () => this.#outputs,
      warn: (warning) => this.#warn(warning),
      fail,
    });
    const blocked = (name: string, holder: LockHolder | null) =>
      this.#driver.note({ type: 'run.blocked', at: clock.now(), why: 'queue', name, holder });
    this.queues = new QueueMembership(run.queues ?? [], workflow.name, blocked, carried?.queued);
  }

  begin(): void {
    if (this.#carried === null) this.#open();
    else this.#driver.resume(this.#carried.limitMs);
  }

  #open(): void {
    for (const event of openingEvents(this.#run)) this.#driver.note(event);
    for (const path of this.#run.request.dotenv?.missing ?? [])
      this.#warn({ step: null, message: `dotenv file "${path}" does not exist` });
    const opened = this.#run.queues === undefined ? this.#prepare() : this.#enterQueues();
    opened.catch((error: unknown) => this.#fail(error));
  }

  /** A stop after the end of the run, or a kill at any time, also abandons notices that are not sent yet. */
  cancel(order: StopOrder): void {
    if (order.force || (order.reason === 'stop' && this.#driver.isOver)) this.#notices.abandon();
    this.#driver.cancel(order);
  }

  answer(answer: AnswerOrder): void {
    this.#driver.answer(answer);
  }

  /** Takes what a running attempt has reported. */
  progress({ worker, secrets, warnings, inputs }: AttemptProgress): void {
    this.#workers.add(worker);
    this.#learn(secrets);
    for (const input of inputs) this.#driver.post(input);
    for (const warning of warnings) this.#warn(warning);
  }

  events(asked: number): EngineEvents {
    const { after: first, execution } = this.#carried ?? { after: 0, execution: 0 };
    const after = Math.max(asked, first);
    const events = this.#events.slice(after - first);
    return { events, after, secrets: [...this.#secrets], execution, ...this.#decided };
  }

  /**
   * Events for a copy, which asks no more when it has the last event: so that event is held back while warnings may follow
   * it. `all`: for a notice, which is about that event.
   */
  shown(asked: number, all: boolean): EngineEvents {
    const found = this.events(asked);
    const end = this.hasFinished || all ? -1 : found.events.findIndex(({ type }) => type === 'run.finished');
    return end === -1 ? found : { ...found, events: found.events.slice(0, end) };
  }

  /** Takes a message of a queue, or of a lock. */
  queued(notice: QueuedNotice): void {
    if (notice.request === undefined) this.queues.take(notice);
    else this.#locks.requests.answered(notice);
  }

  /** Resolves when queues and locks know that the run needs nothing of them any more. */
  async leaveQueues(): Promise<void> {
    this.#locks.requests.releaseAll();
    await this.queues.leave();
    await this.#locks.requests.delivered();
  }

  /** Messages that the next execution would not get the answers to have been answered. */
  get isDelivered(): boolean {
    return this.queues.isDelivered && this.#locks.requests.isDelivered && !this.#notices.arePending;
  }

  /** Nothing is in flight, and it is time to continue in a new execution. */
  get isLeaving(): boolean {
    return this.#flights.isLeaving;
  }

  get hasFinished(): boolean {
    return (this.#isOver && !this.#notices.arePending) || this.#failure !== null;
  }

  /** Throws the internal error that ended the run. */
  result(): EngineResult {
    if (this.#failure !== null) {
      const { error } = this.#failure;
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw ApplicationFailure.nonRetryable(`internal error: ${message}`);
    }
    const { events, after, secrets } = this.#left() ?? this.events(0);
    const { runId, workflow, trigger } = this.#run.request;
    const result = { events, after, secrets };
    return trigger === 'workflow' ? { ...result, child: childResult(runId, workflow, this.#state) } : result;
  }

  /** What the next execution of the run begins with; null: the run stays, since it ends or would carry too much. */
  leave(): CarriedRun | null {
    if (this.hasFinished || !this.isLeaving) return null;
    const left = this.#driver.isOver ? null : this.#left();
    if (left === null) this.#flights.stay();
    return left;
  }

  #left(): CarriedRun | null {
    const { events, after, secrets, execution } = this.events(0);
    const { graph: _, ...state } = this.#state;
    const queued = this.queues.carried;
    const boundTo = this.#oneWorker?.name ?? null;
    const all: CarriedRun = {
      execution: execution + 1,
      state,
      events,
      after,
      secrets,
      outputs: this.#outputs,
      workers: [...this.#workers],
      evaluated: this.#evaluated,
      limitMs: this.#driver.limitMs,
      ...(queued === undefined ? {} : { queued }),
      ...(boundTo === null ? {} : { boundTo }),
      ...(this.#run.locks === undefined ? {} : { locks: this.#locks.carried }),
    };
    return carriedRun(all, this.#carried?.events.length ?? 0);
  }

  #hosting(): DriverHost {
    return {
      clock,
      state: () => this.#state,
      record: (events, run) => {
        this.#state = run;
        this.#events.push(...events);
        this.#decided = { known: workflowInfo().historyLength, decidedAt: clock.now() };
        return { events, stored: events.map((event) => ({ ...event, seq: 0 })) };
      },
      noticed: () => null,
      decided: () => this.queues.hold(isHeld(this.#state)),
      ahead: () => 0,
      cleanUp: () => (this.#workers.size === 0 ? null : this.#cleanUp()),
      logsOf: () => ({ stdout: null, stderr: null }),
      artifactsOf: artifactsMark,
      fail: (error) => this.#fail(error),
      orders: {
        attempt: (task) => this.#flights.make(task),
        end: (step) => this.#flights.cancel('end', (flight) => flight.step === step),
        stop: (fanOut) => this.#flights.cancel('stop', (flight) => fanOut === undefined || flight.fanOut === fanOut),
        stopPreparation: () => {
          this.#preparation.cancel();
          this.#stopsPreparation.abort('stop');
        },
        kill: () => {
          upsertMemo({ [NAMES.killed]: true });
          this.#flights.cancel('kill', () => true);
        },
        set: (outputs) => {
          this.#outputs = { ...this.#outputs, ...outputs };
        },
        resultRecorded: () => {},
        notify: (step, status) => this.#notices.send(step, status),
        finish: (status) => this.#finish(status),
      },
    };
  }

  #finish(status: NoticeStatus): void {
    this.#driver.timers.clear();
    this.#oneWorker?.release();
    this.#notices.send(null, status);
    this.#isOver = true;
    if (!this.#notices.arePending) return;
    this.#notices.limit();
    this.leaveQueues().catch((error: unknown) => this.#fail(error));
  }

  async #enterQueues(): Promise<void> {
    try {
      await this.#preparation.run(() => this.queues.enter());
    } catch (error) {
      // The run was stopped, and has ended.
      if (isCancellation(error)) return;
      throw error;
    }
    await this.#prepare();
  }

  async #prepare(): Promise<void> {
    const { lostAfterMs } = this.#run;
    try {
      const { prepared, restored, evaluated, secrets, warnings, worker } = await this.#preparation.run(() =>
        scheduleWork<PrepareReport>(NAMES.prepare, {
          id: NAMES.prepare,
          attempts: Number.POSITIVE_INFINITY,
          lostAfterMs,
        }),
      );
      this.#workers.add(worker);
      this.#evaluated = evaluated;
      this.#learn(secrets);
      for (const warning of warnings) this.#warn(warning);
      const refused =
        evaluated?.locks === undefined ? null : await this.#locks.ofRun(evaluated.locks, this.#stopsPreparation);
      if (refused !== 'stopped') this.#driver.start(refused ?? prepared, restored);
    } catch (error) {
      if (isCancellation(error)) this.#driver.start({ problem: 'stopped before it started' });
      else if (error instanceof ActivityFailure) this.#driver.start({ problem: reasonOf(error) });
      else throw error;
    }
  }

  /** Posts what came of an attempt. */
  #ended({ step, number }: StepTask, report: Report): void {
    if ('outcome' in report) {
      const own = { at: clock.now(), step: step.name, attempt: number };
      this.#driver.post({ type: 'attempt-ended', ...own, outcome: report.outcome, facts: {} });
    } else this.progress(report);
  }

  /** Ends what steps left behind, on each worker that made attempts. */
  async #cleanUp(): Promise<void> {
    const { nodes } = this.#state.graph;
    const spared = nodes.flatMap(({ name, leaveBackground }) => (leaveBackground ? [name] : []));
    const order: CleanUpOrder = { spared, force: this.#state.cancellation?.force === true };
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        for (const warning of await cleanUp(worker, order)) this.#warn(warning);
      }),
    );
  }

  #learn(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
  }

  #warn({ step, message }: EngineWarning): void {
    this.#driver.note({ type: 'run.warned', at: clock.now(), step, message });
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }
}
