import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  makeContinueAsNewFunc,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { withInstanceNodes } from '#core/fan-out/instances.ts';
import { buildGraph } from '#core/graph.ts';
import { failed } from '#core/run/outcome.ts';
import type { LockHolder, Outcome, Outputs, RunEvent } from '#core/run/run.ts';
import { initialRun, isHeld, type RunState } from '#core/run/run-state.ts';
import type { Lock } from '#core/workflow.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { lockLimitMs, RunLocks, type TakenLocks } from '../../attempt/run-locks.ts';
import { childResult } from '../../driver/child-run.ts';
import { Driver, type DriverHost, type PreparedRun } from '../../driver/driver.ts';
import { notStarted, type StepTask } from '../../driver/step-task.ts';
import type { NoticeStatus } from '../../engine.ts';
import {
  type AnswerOrder,
  type AttemptProgress,
  attemptId,
  type CarriedRun,
  type CleanUpOrder,
  type EngineEvents,
  type EngineResult,
  type EngineRun,
  type EngineWarning,
  type LockNames,
  type LockNamesOrder,
  labelsQueue,
  NAMES,
  openingEvents,
  ownQueue,
  type PrepareReport,
  type QueuedNotice,
  RUN_TYPE,
  SHORT_QUEUE,
  type StopOrder,
} from '../protocol.ts';
import { clock, reasonOf, scheduleActivity, scheduleWork, within } from './activities.ts';
import { ChildRuns } from './child-runs.ts';
import { carriedRun } from './continuation.ts';
import { Flights, type Report } from './flights.ts';
import { LockRequests } from './lock-requests.ts';
import { QueueMembership } from './queue-membership.ts';
import { RunNotices } from './run-notices.ts';

/** By its type, `QUEUE_TYPE`. */
export { queueWorkflow as 'wf.queue.1' } from './queue-workflow.ts';

/** How long the end of a run waits for a worker to end what its steps left behind. */
const CLEAN_UP_PATIENCE = '30 seconds';

/** The workflow of a run. Fails, without a retry, on an internal error. `carried`: of a run that is continued. */
async function runWorkflow(run: EngineRun, carried?: CarriedRun): Promise<EngineResult> {
  const hosted = new TemporalRun(run, carried ?? null);
  hosted.begin();
  setHandler(defineQuery<EngineEvents, [number, boolean?]>(NAMES.events), (after, all) =>
    hosted.shown(after, all === true),
  );
  setHandler(defineSignal<[StopOrder]>(NAMES.stop), (order) => hosted.cancel(order));
  setHandler(defineSignal<[AnswerOrder]>(NAMES.answer), (answer) => hosted.answer(answer));
  setHandler(defineSignal<[AttemptProgress]>(NAMES.progress), (progress) => hosted.progress(progress));
  setHandler(defineSignal<[QueuedNotice]>(NAMES.queued), (notice) => hosted.queued(notice));
  let left: CarriedRun | null = null;
  try {
    do {
      // It is looked at when nothing else is left to do: what comes before belongs to what the run carries.
      await condition(() => hosted.hasFinished || (hosted.isLeaving && hosted.isDelivered));
      left = hosted.leave();
    } while (left === null && !hosted.hasFinished);
  } finally {
    // The next execution has the slots of this one.
    if (left === null) await hosted.leaveQueues();
  }
  if (left === null) return hosted.result();
  const { workflow, trigger } = run.request;
  return makeContinueAsNewFunc<typeof runWorkflow>({
    workflowType: RUN_TYPE,
    memo: { name: workflow.name, trigger },
  })(run, left);
}

/** By its type, `RUN_TYPE`. */
export { runWorkflow as 'wf.run.1' };

/** A run of another version waits for a worker that has its code: the message is in its history. */
async function unknownRun(): Promise<never> {
  const { workflowType } = workflowInfo();
  throw new Error(
    `this worker executes "${RUN_TYPE}", not "${workflowType}": it needs the release of wf that started it`,
  );
}

/** By every other type. */
// biome-ignore lint/style/noDefaultExport: the name that the library asks for
export { unknownRun as default };

/** One run: the host of its driver. Attempts are activities on workers. */
class TemporalRun {
  readonly queues: QueueMembership;
  readonly #run: EngineRun;
  readonly #driver: Driver;
  readonly #flights: Flights;
  readonly #notices: RunNotices;
  readonly #requests: LockRequests;
  readonly #locks: RunLocks;
  readonly #carried: CarriedRun | null;
  #state: RunState;
  readonly #events: RunEvent[];
  #evaluated: CarriedRun['evaluated'] = null;
  #known = 0;
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
    const { prefix = '', pools = [] } = run.locks ?? {};
    this.#requests = new LockRequests({ prefix }, carried?.locks);
    const poolOf = (name: string) => pools.find((pool) => pool.name === name);
    const locks = {
      open: () => Promise.resolve(this.#requests),
      sizeOf: (_: unknown, name: string) => poolOf(name)?.slots ?? 1,
      perMinute: (name: string) => poolOf(name)?.perMinute ?? null,
    };
    const outer = carried?.locks?.outer ?? run.request.outerLocks ?? [];
    this.#locks = new RunLocks({ locks, clock }, outer, (input) => this.#driver.post(input));
    const locksAround = (step: string) => this.#locks.around(step);
    const children = new ChildRuns({ run, secrets: () => [...this.#secrets], locksAround, learn, fail });
    this.#flights = new Flights(
      {
        lostAfterMs: run.lostAfterMs,
        outputs: () => this.#outputs,
        queueOf: (step) => labelsQueue(this.#evaluated?.labels?.[step] ?? ''),
        takeLocks: (task, stop) => this.#takeLocks(task, stop),
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
    return { events, after, secrets: [...this.#secrets], execution, known: this.#known };
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
    else this.#requests.answered(notice);
  }

  /** Resolves when queues and locks know that the run needs nothing of them any more. */
  async leaveQueues(): Promise<void> {
    this.#requests.releaseAll();
    await this.queues.leave();
    await this.#requests.delivered();
  }

  /** Messages that the next execution would not get the answers to have been answered. */
  get isDelivered(): boolean {
    return this.queues.isDelivered && this.#requests.isDelivered && !this.#notices.arePending;
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
      ...(this.#run.locks === undefined ? {} : { locks: { ...this.#requests.carried, outer: this.#locks.around('') } }),
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
        this.#known = workflowInfo().historyLength;
        return { events, stored: events.map((event) => ({ ...event, seq: 0 })) };
      },
      noticed: () => null,
      decided: () => this.queues.hold(isHeld(this.#state)),
      ahead: () => 0,
      cleanUp: () => (this.#workers.size === 0 ? null : this.#cleanUp()),
      logsOf: () => ({ stdout: null, stderr: null }),
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
      const { prepared, evaluated, secrets, warnings, worker } = await this.#preparation.run(() =>
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
      const ready = evaluated?.locks === undefined ? prepared : await this.#withLocks(prepared, evaluated.locks);
      if (ready !== null) this.#driver.start(ready);
    } catch (error) {
      if (isCancellation(error)) this.#driver.start({ problem: 'stopped before it started' });
      else if (error instanceof ActivityFailure) this.#driver.start({ problem: reasonOf(error) });
      else throw error;
    }
  }

  /** Takes the locks of the run; null if it was stopped meanwhile. */
  async #withLocks(prepared: PreparedRun, locks: readonly Lock[]): Promise<PreparedRun | null> {
    const { runId, workflow } = this.#run.request;
    const taken = await this.#locks.ofRun(locks, {
      by: { runId, workflow: workflow.name, step: null },
      stop: this.#stopsPreparation,
      limitMs: workflow.lockTimeoutMs ?? 0,
      blocked: (why, name, holder) => this.#driver.note({ type: 'run.blocked', at: clock.now(), why, name, holder }),
    });
    if ('refusal' in taken) return taken.refusal && { problem: taken.refusal.message };
    return prepared;
  }

  /** Takes the locks of an attempt, whose names a worker evaluates. */
  async #takeLocks(task: StepTask, stop: EndSignal): Promise<TakenLocks | { readonly outcome: Outcome }> {
    const { step, number } = task;
    const { runId, workflow } = this.#run.request;
    const order: LockNamesOrder = { task, outputs: this.#outputs };
    const scope = new CancellationScope();
    stop.onAbort(() => scope.cancel());
    try {
      const named = await within(scope, () =>
        scheduleWork<LockNames>(NAMES.lockNames, {
          id: `${NAMES.lockNames}#${attemptId(step.name, number)}`,
          attempts: Number.POSITIVE_INFINITY,
          lostAfterMs: this.#run.lostAfterMs,
          order,
          queue: SHORT_QUEUE,
        }),
      );
      if ('problem' in named) return { outcome: failed(named.problem) };
      const taken = await this.#locks.ofAttempt(
        named.locks,
        { step, number, signal: stop },
        {
          by: { runId, workflow: workflow.name, step: step.name },
          limitMs: lockLimitMs(step, this.#state.cancellation !== null),
        },
      );
      return 'refusal' in taken ? { outcome: taken.refusal ?? notStarted } : taken;
    } catch (error) {
      if (isCancellation(error)) return { outcome: notStarted };
      if (error instanceof ActivityFailure) return { outcome: failed(reasonOf(error)) };
      throw error;
    }
  }

  /** Posts what came of an attempt. */
  #ended({ step, number }: StepTask, report: Report): void {
    if ('outcome' in report) {
      const own = { at: clock.now(), step: step.name, attempt: number };
      this.#driver.post({ type: 'attempt-ended', ...own, outcome: report.outcome, facts: {} });
    } else this.progress(report);
  }

  /** Ends what steps left behind, on each worker that made attempts; one that does not answer has its guard. */
  async #cleanUp(): Promise<void> {
    const { nodes } = this.#state.graph;
    const spared = nodes.flatMap(({ name, leaveBackground }) => (leaveBackground ? [name] : []));
    const order: CleanUpOrder = { spared, force: this.#state.cancellation?.force === true };
    await Promise.all(
      [...this.#workers].map((worker) =>
        scheduleActivity<readonly EngineWarning[]>(NAMES.cleanUp, [order], {
          activityId: `${NAMES.cleanUp}#${worker}`,
          taskQueue: ownQueue(worker),
          scheduleToCloseTimeout: CLEAN_UP_PATIENCE,
          retry: { maximumAttempts: 1 },
        }).then(
          (warnings) => {
            for (const warning of warnings) this.#warn(warning);
          },
          (error: unknown) => {
            if (!(error instanceof ActivityFailure)) throw error;
            const message = `the worker "${worker}" did not say whether all processes of the run have ended`;
            this.#warn({ step: null, message });
          },
        ),
      ),
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
