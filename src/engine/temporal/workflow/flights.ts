import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { failed } from '#core/run/outcome.ts';
import type { Outcome, Outputs } from '#core/run/run.ts';
import { EndSignal } from '#processes/end-signal.ts';
import type { TakenLocks } from '../../attempt/run-locks.ts';
import { notStarted, type StepTask } from '../../driver/step-task.ts';
import {
  type AttemptEndReport,
  type AttemptOrder,
  attemptId,
  type ChildReport,
  type EngineWarning,
  isAttemptReport,
  isChildReport,
  lostOutcome,
  NAMES,
} from '../protocol.ts';
import { clock, noResult, scheduleWork, unreadPause, within } from './activities.ts';
import type { ChildRuns, EndOfAttempt } from './child-runs.ts';
import { Continuation } from './continuation.ts';
import type { OneWorker, Placed } from './one-worker.ts';

/** Orders that Temporal has at once; the others wait here. */
const MAX_IN_FLIGHT = 500;
/** The ends of logs in the reports of a run, together, stay below the 50 MB of a history. */
const LOG_BYTES = { all: 16 * 1024 * 1024, most: 64 * 1024, least: 2 * 1024 };

/** A run continues in a new execution when nothing is in flight, which a service is. */
const TOO_LARGE = 'on an engine, a run makes at most 8,000 attempts while a service is up';

/** An attempt that Temporal has, or that waits for its turn. */
type Flight = {
  readonly step: string;
  readonly fanOut: string | undefined;
  /** How long a first stop lets a service run, which ends after the steps that use it; null: it is no service. */
  readonly serviceMs: number | null;
  readonly scope: CancellationScope;
  /** Ends the wait for its locks. */
  readonly stop: EndSignal;
  readonly begin: () => void;
  readonly end: (report: Report) => void;
  /** Ends the time of a service after a stop. */
  cancelTimer: () => void;
};

/** An order to be given, in the scope of its flight. `unread`: how often workers could not read it. */
type Asked = {
  readonly order: AttemptOrder;
  readonly scope: CancellationScope;
  readonly done: (report: Report) => void;
  readonly unread: number;
};

/** What came of an attempt: the report of its worker, or the outcome without one. */
export type Report = AttemptEndReport | { readonly outcome: Outcome };

/** The run that the attempts belong to. */
export type FlightsHost = {
  /** How long a worker may be silent, in milliseconds. */
  readonly lostAfterMs: number;
  /** The variables that were set since the evaluation of the run. */
  readonly outputs: () => Outputs;
  /** The task queue of the attempts at a step, by its name; that of a fan-out for its instances. */
  readonly queueOf: (step: string) => string;
  /** Null: the attempts need not be made by the same worker. */
  readonly oneWorker: OneWorker | null;
  /** The time that a service gets to end, in milliseconds. */
  readonly graceMs: number;
  /** Takes the locks of an attempt, or returns its outcome without them. */
  readonly takeLocks: (task: StepTask, stop: EndSignal) => Promise<TakenLocks | { readonly outcome: Outcome }>;
  readonly ended: (task: StepTask, report: Report) => void;
  /** Takes what an attempt has reported whose child run starts. */
  readonly progress: (report: ChildReport) => void;
  readonly warn: (warning: EngineWarning) => void;
  /** A worker was lost: it has nothing of the run any more. */
  readonly lost: (worker: string) => void;
  /** Called with an internal error. */
  readonly fail: (error: unknown) => void;
};

/**
 * The attempts of a run that are in flight: activities on workers. Also holds attempts back until the run continues in a
 * new execution.
 */
export class Flights {
  /** The run continues in a new execution: no attempt begins in this one. */
  isLeaving = false;
  readonly #host: FlightsHost;
  readonly #flights = new Set<Flight>();
  /** Those of `#flights` that Temporal does not have yet. */
  readonly #waiting = new Set<Flight>();
  readonly #continuation = new Continuation();
  readonly #children: ChildRuns;
  /** Ends a pause in which no attempt begins. */
  #pause: (() => void) | null = null;

  constructor(host: FlightsHost, children: ChildRuns) {
    this.#host = host;
    this.#children = children;
  }

  /** Makes an attempt, in its turn, and reports what came of it. */
  make(task: StepTask): void {
    const { name, instanceOf, service, graceMs = this.#host.graceMs } = task.step;
    const flight: Flight = {
      step: name,
      fanOut: instanceOf,
      serviceMs: service === undefined ? null : Math.min(graceMs, this.#host.graceMs),
      scope: new CancellationScope(),
      stop: new EndSignal(),
      begin: () => {
        this.#waiting.delete(flight);
        const isHeld = this.#hasService;
        if (isHeld && this.#continuation.isFull) return flight.end({ outcome: failed(TOO_LARGE) });
        const pauseMs = this.#continuation.count(isHeld);
        if (pauseMs !== null) this.#holdBack(pauseMs);
        const logBytes = Math.floor(LOG_BYTES.all / this.#continuation.attempts);
        const order = (done: (report: Report) => void) =>
          this.#order({
            order: {
              task,
              outputs: this.#host.outputs(),
              logBytes: Math.max(LOG_BYTES.least, Math.min(LOG_BYTES.most, logBytes)),
            },
            scope: flight.scope,
            done,
            unread: 0,
          });
        if (task.step.locks === undefined) order(flight.end);
        else this.#watch(this.#withLocks(task, flight, order));
      },
      cancelTimer: () => {},
      end: (report) => {
        flight.cancelTimer();
        this.#flights.delete(flight);
        if (this.#inFlight === 0) this.isLeaving ||= this.#continuation.isDue(workflowInfo().continueAsNewSuggested);
        this.#beginNext();
        this.#host.ended(task, report);
      },
    };
    this.#flights.add(flight);
    this.#waiting.add(flight);
    this.#beginNext();
  }

  /** Makes an attempt while it holds its locks. */
  async #withLocks(
    task: StepTask,
    { stop, end }: Flight,
    order: (done: (report: Report) => void) => void,
  ): Promise<void> {
    const taken = await this.#host.takeLocks(task, stop);
    if ('outcome' in taken) return end(taken);
    const done = (report: Report) => {
      taken.release();
      end(report);
    };
    if (stop.aborted) done({ outcome: notStarted });
    else order(done);
  }

  /** Whether a service is up, which ends only after the steps that use it. */
  get #hasService(): boolean {
    for (const flight of this.#flights) if (flight.serviceMs !== null && !this.#waiting.has(flight)) return true;
    return false;
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
   * An attempt is ordered again if its worker died before it began, has no free slot, or cannot read it; and one that was
   * lost if it only reads the items of a fan-out, or what its child run needs. Acts on a result at once, without a promise in
   * between: a worker may get two results together or, if it answered a query between them, one after the other, and
   * its decisions must have the same order.
   */
  #order(asked: Asked): void {
    const { oneWorker, queueOf } = this.#host;
    const { order, scope, done } = asked;
    const { service, instanceOf, name } = order.task.step;
    if (oneWorker === null) this.#orderAt({ queue: queueOf(instanceOf ?? name), scope, hasMoved: false }, asked);
    else
      oneWorker.place({
        isService: service !== undefined,
        scope,
        placed: (placed) => this.#orderAt(placed, asked),
        dropped: () => done({ outcome: notStarted }),
      });
  }

  #orderAt(placed: Placed, asked: Asked): void {
    const { lostAfterMs, oneWorker } = this.#host;
    const { order, scope, done, unread } = asked;
    const { task, child } = order;
    const { step, number } = task;
    const isRepeatable = step.fanOut !== undefined || step.executor.type === 'workflow';
    const again = () => this.#order(asked);
    const activity = within(placed.scope, () =>
      scheduleWork<unknown>(NAMES.attempt, {
        id: attemptId(step.name, number, child !== undefined),
        attempts: 1,
        lostAfterMs,
        order,
        queue: placed.queue,
      }),
    );
    // Not by a request of the run.
    const hasMoved = () => placed.hasMoved && !scope.consideredCancelled;
    const ended = activity.then(
      (found) => {
        oneWorker?.free(placed);
        const report = hasMoved() && isAttemptReport(found) ? stoppedAsLost(found) : found;
        if (isChildReport(report)) this.#startChild(asked, report);
        else if (!isAttemptReport(report)) done({ outcome: failed('a worker sent a report that cannot be read') });
        else if (isRepeatable && wasLost(report)) again();
        else done(report);
      },
      (error: unknown) => {
        oneWorker?.free(placed);
        const why = noResult(error);
        if (why.type === 'canceled') return hasMoved() ? again() : done({ outcome: notStarted });
        if (why.type === 'failed') return done({ outcome: failed(why.message) });
        if (why.type === 'unreadable') {
          if (unread === 0) this.#host.warn({ step: step.name, message: `a worker cannot read it: ${why.message}` });
          return this.#orderLater({ ...asked, unread: unread + 1 });
        }
        if (why.type !== 'lost' || isRepeatable) return again();
        // Its guard has ended its processes, or the next worker on its machine does.
        this.#host.lost(why.worker);
        done({ outcome: lostOutcome(`the worker "${why.worker}" was lost`) });
      },
    );
    this.#watch(ended);
  }

  /** The attempt continues, on any worker, when its child run has ended. */
  #startChild({ order, scope, done }: Asked, report: ChildReport): void {
    if (scope.consideredCancelled) done({ outcome: notStarted });
    else {
      this.#host.progress(report);
      this.#children.start(order.task.step, report.child, (child) =>
        this.#order({ order: { ...order, child }, scope, done, unread: 0 }),
      );
    }
  }

  #orderLater(asked: Asked): void {
    const waited = within(asked.scope, () => unreadPause(asked.unread)).then(
      () => this.#order(asked),
      () => asked.done({ outcome: notStarted }),
    );
    this.#watch(waited);
  }

  /** Asks attempts to end; those that wait for their turn end at once. */
  cancel(how: EndOfAttempt, isMeant: (flight: Pick<Flight, 'step' | 'fanOut'>) => boolean): void {
    for (const flight of [...this.#flights].filter(isMeant)) {
      flight.stop.abort('stop');
      if (this.#waiting.delete(flight)) flight.end({ outcome: notStarted });
      else if (this.#children.has(flight.step)) this.#children.end(flight.step, how);
      else if (how === 'stop' && flight.serviceMs !== null) this.#endLater(flight, flight.serviceMs);
      else flight.scope.cancel();
    }
  }

  /** After a stop, a service is asked to end when no step uses it any more, at the latest after its time. */
  #endLater(flight: Flight, ms: number): void {
    flight.cancelTimer();
    flight.cancelTimer = clock.setTimer(clock.now() + ms, () => flight.scope.cancel());
  }

  /** The run does not continue in a new execution now: what was held back begins. */
  stay(): void {
    this.isLeaving = false;
    if (this.#pause === null) this.#beginNext();
    else this.#pause();
  }

  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => this.#host.fail(error));
  }
}

/** A worker that stops ends its attempts. */
function stoppedAsLost(report: AttemptEndReport): AttemptEndReport {
  const { inputs, worker } = report;
  const last = inputs.at(-1);
  if (last?.type !== 'attempt-ended' || last.outcome.status !== 'canceled') return report;
  const outcome = lostOutcome(`the worker "${worker}" was stopped`);
  return { ...report, inputs: [...inputs.slice(0, -1), { ...last, outcome, facts: {} }] };
}

function wasLost({ inputs }: AttemptEndReport): boolean {
  const last = inputs.at(-1);
  return last?.type === 'attempt-ended' && last.outcome.status === 'failed' && last.outcome.reason === 'lost';
}
