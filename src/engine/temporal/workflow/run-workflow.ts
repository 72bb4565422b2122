import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  sleep,
  TimeoutFailure,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { withInstanceNodes } from '#core/fan-out/instances.ts';
import { buildGraph } from '#core/graph.ts';
import { failed } from '#core/run/outcome.ts';
import type { LockHolder, Outcome, Outputs, RunEvent } from '#core/run/run.ts';
import { initialRun, isHeld, type RunState } from '#core/run/run-state.ts';
import type { Clock } from '#system/clock.ts';
import { Driver, type DriverHost } from '../../driver/driver.ts';
import { notStarted, type StepTask } from '../../driver/step-task.ts';
import {
  type AnswerOrder,
  type AttemptEndReport,
  type AttemptOrder,
  type AttemptProgress,
  attemptId,
  type CarriedRun,
  type CleanUpOrder,
  DEFAULT_QUEUE,
  type EngineEvents,
  type EngineResult,
  type EngineRun,
  type EngineWarning,
  isAttemptReport,
  lostOutcome,
  NAMES,
  openingEvents,
  ownQueue,
  type PrepareReport,
  type QueuedNotice,
  RUN_TYPE,
  type StopOrder,
  UNREADABLE,
} from '../protocol.ts';
import { Continuation, carriedRun } from './continuation.ts';
import { QueueMembership } from './queue-membership.ts';

/** By its type, `QUEUE_TYPE`. */
export { queueWorkflow as 'wf.queue.1' } from './queue-workflow.ts';

/** Orders that Temporal has at once; the others wait here. */
const MAX_IN_FLIGHT = 500;
/** Waits between orders that workers with another key cannot read. */
const MAX_UNREAD_WAIT_MS = 30_000;
/** No limit of Temporal ends an attempt: steps have their own. */
const UNLIMITED = '87600 hours';
/** How long the end of a run waits for a worker to end what its steps left behind. */
const CLEAN_UP_PATIENCE = '30 seconds';
/** The ends of logs in the reports of a run, together, stay below the 50 MB of a history. */
const LOG_BYTES = { all: 16 * 1024 * 1024, most: 64 * 1024, least: 2 * 1024 };

/** Time and timers of the workflow, which are the same when it is replayed. */
const clock: Clock = {
  now: () => Date.now(),
  elapsed: () => Date.now(),
  setTimer: (at, callback) => {
    const scope = new CancellationScope();
    within(scope, () => sleep(Math.max(1, at - Date.now()))).then(callback, () => {});
    return () => scope.cancel();
  },
};

/** An attempt that Temporal has, or that waits for its turn. */
type Flight = {
  readonly step: string;
  readonly fanOut: string | undefined;
  readonly scope: CancellationScope;
  readonly begin: () => void;
  readonly end: (report: Report) => void;
};

/** What came of an attempt: the report of its worker, or the outcome without one. */
type Report = AttemptEndReport | { readonly outcome: Outcome };

/** The workflow of a run. Fails, without a retry, on an internal error. `carried`: of a run that is continued. */
async function runWorkflow(run: EngineRun, carried?: CarriedRun): Promise<EngineResult> {
  const hosted = new TemporalRun(run, carried ?? null);
  hosted.begin();
  setHandler(defineQuery<EngineEvents, [number]>(NAMES.events), (after) => hosted.events(after));
  setHandler(defineSignal<[StopOrder]>(NAMES.stop), (order) => hosted.cancel(order));
  setHandler(defineSignal<[AnswerOrder]>(NAMES.answer), (answer) => hosted.answer(answer));
  setHandler(defineSignal<[AttemptProgress]>(NAMES.progress), (progress) => hosted.progress(progress));
  setHandler(defineSignal<[QueuedNotice]>(NAMES.queued), (notice) => hosted.queues.take(notice));
  let left: CarriedRun | null = null;
  try {
    do {
      // It is looked at when nothing else is left to do: what comes before belongs to what the run carries.
      await condition(() => hosted.hasFinished || (hosted.isLeaving && hosted.queues.isDelivered));
      left = hosted.leave();
    } while (left === null && !hosted.hasFinished);
  } finally {
    // The next execution has the slots of this one.
    if (left === null) await hosted.queues.leave();
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
  /** The run continues in a new execution: no attempt begins in this one. */
  isLeaving = false;
  readonly queues: QueueMembership;
  readonly #run: EngineRun;
  readonly #driver: Driver;
  readonly #flights = new Set<Flight>();
  /** Those of `#flights` that Temporal does not have yet. */
  readonly #waiting = new Set<Flight>();
  readonly #continuation = new Continuation();
  readonly #carried: CarriedRun | null;
  /** Ends a pause in which no attempt begins. */
  #pause: (() => void) | null = null;
  #state: RunState;
  readonly #events: RunEvent[];
  #evaluated: CarriedRun['evaluated'] = null;
  #known = 0;
  readonly #secrets = new Set<string>();
  #outputs: Outputs = {};
  /** Workers that may have processes of the run. */
  readonly #workers = new Set<string>();
  readonly #preparation = new CancellationScope();
  #hasFinished = false;
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
    } else {
      const { state, outputs, evaluated, secrets, workers } = carried;
      this.#state = { ...state, graph: withInstanceNodes(graph, state.nodes) };
      this.#outputs = outputs;
      this.#evaluated = evaluated;
      this.#learn(secrets);
      for (const worker of workers) this.#workers.add(worker);
    }
    this.#driver = new Driver(run.request, this.#hosting());
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
    this.#guard(this.#run.queues === undefined ? this.#prepare() : this.#enterQueues());
  }

  cancel(order: StopOrder): void {
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

  get hasFinished(): boolean {
    return this.#hasFinished || this.#failure !== null;
  }

  /** Throws the internal error that ended the run. */
  result(): EngineResult {
    if (this.#failure !== null) {
      const { error } = this.#failure;
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw ApplicationFailure.nonRetryable(`internal error: ${message}`);
    }
    const { events, after, secrets } = this.#left() ?? this.events(0);
    return { events, after, secrets };
  }

  /** What the next execution of the run begins with; null: the run stays, since it ends or would carry too much. */
  leave(): CarriedRun | null {
    if (this.hasFinished || !this.isLeaving) return null;
    const left = this.#driver.isOver ? null : this.#left();
    if (left === null) {
      this.isLeaving = false;
      if (this.#pause === null) this.#beginNext();
      else this.#pause();
    }
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
      fail: (error) => {
        this.#failure ??= { error };
      },
      orders: {
        attempt: (task) => this.#attempt(task),
        end: (step) => this.#cancel((flight) => flight.step === step),
        stop: (fanOut) => this.#cancel((flight) => fanOut === undefined || flight.fanOut === fanOut),
        stopPreparation: () => this.#preparation.cancel(),
        kill: () => {
          upsertMemo({ [NAMES.killed]: true });
          this.#cancel(() => true);
        },
        set: (outputs) => {
          this.#outputs = { ...this.#outputs, ...outputs };
        },
        resultRecorded: () => {},
        notify: () => {},
        finish: () => {
          this.#driver.timers.clear();
          this.#hasFinished = true;
        },
      },
    };
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
    try {
      const { prepared, evaluated, secrets, warnings, worker } = await this.#preparation.run(() =>
        this.#activity<PrepareReport>(NAMES.prepare, { id: NAMES.prepare, attempts: Number.POSITIVE_INFINITY }),
      );
      this.#workers.add(worker);
      this.#evaluated = evaluated;
      this.#learn(secrets);
      for (const warning of warnings) this.#warn(warning);
      this.#driver.start(prepared);
    } catch (error) {
      if (isCancellation(error)) this.#driver.start({ problem: 'stopped before it started' });
      else if (error instanceof ActivityFailure) this.#driver.start({ problem: reasonOf(error) });
      else throw error;
    }
  }

  /** Makes an attempt, in its turn, and posts what came of it. */
  #attempt(task: StepTask): void {
    const { name, instanceOf } = task.step;
    const flight: Flight = {
      step: name,
      fanOut: instanceOf,
      scope: new CancellationScope(),
      begin: () => {
        this.#waiting.delete(flight);
        const pauseMs = this.#continuation.count();
        if (pauseMs !== null) this.#holdBack(pauseMs);
        const logBytes = Math.floor(LOG_BYTES.all / this.#continuation.attempts);
        const order: AttemptOrder = {
          task,
          outputs: this.#outputs,
          logBytes: Math.max(LOG_BYTES.least, Math.min(LOG_BYTES.most, logBytes)),
        };
        this.#order(order, flight.scope, flight.end);
      },
      end: (report) => {
        this.#flights.delete(flight);
        if (this.#inFlight === 0) this.isLeaving ||= this.#continuation.isDue(workflowInfo().continueAsNewSuggested);
        this.#beginNext();
        if ('outcome' in report) {
          const own = { at: clock.now(), step: name, attempt: task.number };
          this.#driver.post({ type: 'attempt-ended', ...own, outcome: report.outcome, facts: {} });
        } else this.progress(report);
      },
    };
    this.#flights.add(flight);
    this.#waiting.add(flight);
    this.#beginNext();
  }

  get #inFlight(): number {
    return this.#flights.size - this.#waiting.size;
  }

  /** Lets the attempt begin that has waited longest, if one may. */
  #beginNext(): void {
    const [next] = this.#waiting;
    if (next !== undefined && this.#pause === null && !this.isLeaving && this.#inFlight < MAX_IN_FLIGHT) next.begin();
  }

  /** Lets no attempt begin for a while, until those in flight have ended. */
  #holdBack(pauseMs: number): void {
    const end = () => {
      this.#pause = null;
      for (let left = this.#waiting.size; left > 0; left -= 1) this.#beginNext();
    };
    const cancel = Number.isFinite(pauseMs) ? clock.setTimer(clock.now() + pauseMs, end) : () => {};
    this.#pause = () => {
      cancel();
      end();
    };
  }

  /**
   * An attempt is ordered again if its worker died before it began, or cannot read it; and one that reads the items of a
   * fan-out, which has no number of its own to retry, if it was lost. Acts on a result at once, without a promise in
   * between: a worker may get two results together or, if it answered a query between them, one after the other, and
   * its decisions must have the same order.
   */
  #order(order: AttemptOrder, scope: CancellationScope, done: (report: Report) => void, unread = 0): void {
    const { step, number } = order.task;
    const isFanOut = step.fanOut !== undefined;
    const again = () => this.#order(order, scope, done, unread);
    const activity = within(scope, () =>
      this.#activity<unknown>(NAMES.attempt, { id: attemptId(step.name, number), attempts: 1, order }),
    );
    const ended = activity.then(
      (report) => {
        if (!isAttemptReport(report)) done({ outcome: failed('a worker sent a report that cannot be read') });
        else if (isFanOut && wasLost(report)) again();
        else done(report);
      },
      (error: unknown) => {
        if (isCancellation(error)) return done({ outcome: notStarted });
        if (!(error instanceof ActivityFailure)) throw error;
        const { cause } = error;
        if (cause instanceof ApplicationFailure && cause.type === UNREADABLE) {
          if (unread === 0) this.#warn({ step: step.name, message: `a worker cannot read it: ${cause.message}` });
          return this.#orderLater(order, scope, done, unread + 1);
        }
        if (!(cause instanceof TimeoutFailure)) return done({ outcome: failed(reasonOf(error)) });
        const worker: unknown = cause.lastHeartbeatDetails;
        if (typeof worker !== 'string' || isFanOut) return again();
        // Its guard has ended its processes, or the next worker on its machine does.
        this.#workers.delete(worker);
        done({ outcome: lostOutcome(`the worker "${worker}" was lost`) });
      },
    );
    this.#guard(ended);
  }

  #orderLater(order: AttemptOrder, scope: CancellationScope, done: (report: Report) => void, unread: number): void {
    const waited = within(scope, () => sleep(Math.min(500 * 2 ** unread, MAX_UNREAD_WAIT_MS))).then(
      () => this.#order(order, scope, done, unread),
      () => done({ outcome: notStarted }),
    );
    this.#guard(waited);
  }

  #activity<T>(
    type: string,
    { id, attempts, order }: { readonly id: string; readonly attempts: number; readonly order?: AttemptOrder },
  ): Promise<T> {
    const { lostAfterMs } = this.#run;
    return scheduleActivity<T>(type, order === undefined ? [] : [order], {
      activityId: id,
      taskQueue: DEFAULT_QUEUE,
      startToCloseTimeout: UNLIMITED,
      heartbeatTimeout: lostAfterMs,
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: { maximumAttempts: attempts, initialInterval: 1000, maximumInterval: 10_000 },
    });
  }

  #cancel(isMeant: (flight: Flight) => boolean): void {
    for (const flight of [...this.#flights].filter(isMeant)) {
      if (this.#waiting.delete(flight)) flight.end({ outcome: notStarted });
      else flight.scope.cancel();
    }
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

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }
}

function wasLost({ inputs }: AttemptEndReport): boolean {
  const last = inputs.at(-1);
  return last?.type === 'attempt-ended' && last.outcome.status === 'failed' && last.outcome.reason === 'lost';
}

function reasonOf({ cause, message }: ActivityFailure): string {
  return cause instanceof ApplicationFailure ? cause.message : (cause?.message ?? message);
}

/** The promise that `work` returned in the scope. That of `scope.run` is settled later, and how much later differs. */
function within<T>(scope: CancellationScope, work: () => Promise<T>): Promise<T> {
  let started: Promise<T> | undefined;
  const run = scope.run(() => {
    started = work();
    return started;
  });
  run.catch(() => {});
  return started ?? run;
}

function scheduleActivity<T>(type: string, args: readonly unknown[], options: ActivityOptions): Promise<T> {
  const activity = proxyActivities<Record<string, (...args: readonly unknown[]) => Promise<T>>>(options)[type];
  if (activity === undefined) throw new Error(`there is no activity "${type}"`);
  return activity(...args);
}
