import { ActivityCancellationType, CancellationScope } from '@temporalio/workflow';
import { joinedLabels, needsOneWorker, type SelectedLabels, selectingSteps } from '#core/selectors.ts';
import { type CarriedRun, type EngineRun, labelsQueue, NAMES, ownQueue, stepsQueue } from '../protocol.ts';
import { scheduleActivity, scheduleWork, UNLIMITED, within } from './activities.ts';

/** The run whose steps need one worker. */
export type OneWorkerHost = {
  /** How long a worker may be silent, in milliseconds. */
  readonly lostAfterMs: number;
  /** Those of the steps: the worker must have all of them. */
  readonly labels: () => SelectedLabels;
  /** Called with an internal error. */
  readonly fail: (error: unknown) => void;
};

/** An attempt at a worker. `scope`: of its activity; `hasMoved`: the run has left the worker, and the scope was cancelled. */
export type Placed = { readonly queue: string; readonly scope: CancellationScope; hasMoved: boolean };

/** An attempt that waits until the run has a worker. `dropped`: called instead if its scope is cancelled before. */
type Waiter = {
  readonly isService: boolean;
  readonly scope: CancellationScope;
  readonly placed: (placed: Placed) => void;
  readonly dropped: () => void;
};

/**
 * The worker to which a run is bound, since its steps use what another one has started there: the first worker that
 * takes `NAMES.bind`. It holds the run by an activity; when that ends, the worker has gone, and the run is bound to another.
 * Acts on each result at once, as `Flights` does.
 */
export class OneWorker {
  readonly #host: OneWorkerHost;
  readonly #end = new CancellationScope();
  readonly #waiting = new Set<Waiter>();
  readonly #placed = new Set<Placed>();
  #worker: string | null = null;
  /** The worker to begin with. */
  #first: string | null;
  #isChoosing = false;
  #count = 0;

  constructor(host: OneWorkerHost, first: string | null) {
    this.#host = host;
    this.#first = first;
  }

  /** The worker to which the run is bound; null: none at present. */
  get name(): string | null {
    return this.#worker ?? this.#first;
  }

  /** Gives an attempt its place when the run has a worker. */
  place(waiter: Waiter): void {
    this.#waiting.add(waiter);
    waiter.scope.cancelRequested.catch(() => {
      if (this.#waiting.delete(waiter)) waiter.dropped();
    });
    if (this.#worker !== null) this.#admit(this.#worker);
    else if (!this.#isChoosing) this.#begin();
  }

  /** An attempt has ended. */
  free(placed: Placed): void {
    this.#placed.delete(placed);
  }

  /** The run needs no worker any more. */
  release(): void {
    this.#end.cancel();
  }

  #begin(): void {
    const first = this.#first;
    this.#first = null;
    this.#count += 1;
    if (first === null) this.#choose();
    else this.#hold(first);
  }

  #choose(): void {
    this.#isChoosing = true;
    const { lostAfterMs, labels, fail } = this.#host;
    const chosen = within(this.#end, () =>
      scheduleWork<string>(NAMES.bind, {
        id: `${NAMES.bind}#${this.#count}`,
        attempts: Number.POSITIVE_INFINITY,
        lostAfterMs,
        queue: labelsQueue(textOf(labels())),
      }),
    );
    chosen.then(
      (worker) => {
        this.#isChoosing = false;
        this.#hold(worker);
      },
      (error: unknown) => {
        if (!this.#end.consideredCancelled) fail(error);
      },
    );
  }

  /** Work of the worker itself needs no slot: it begins at once, or the worker has gone. */
  #hold(worker: string): void {
    const { lostAfterMs } = this.#host;
    this.#worker = worker;
    const held = within(this.#end, () =>
      scheduleActivity<void>(NAMES.stay, [], {
        activityId: `${NAMES.stay}#${this.#count}`,
        taskQueue: ownQueue(worker),
        scheduleToStartTimeout: lostAfterMs,
        startToCloseTimeout: UNLIMITED,
        heartbeatTimeout: lostAfterMs,
        cancellationType: ActivityCancellationType.TRY_CANCEL,
        retry: { maximumAttempts: 1 },
      }),
    );
    const leave = () => {
      if (!this.#end.consideredCancelled) this.#leave();
    };
    held.then(leave, leave);
    this.#admit(worker);
  }

  /** What the worker has not begun is placed again; what it has begun ends there. */
  #leave(): void {
    this.#worker = null;
    const left = [...this.#placed];
    this.#placed.clear();
    for (const one of left) {
      one.hasMoved = true;
      one.scope.cancel();
    }
    if (this.#waiting.size > 0 && !this.#isChoosing) this.#begin();
  }

  #admit(worker: string): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { isService, scope: parent, placed } of waiting) {
      const queue = isService ? ownQueue(worker) : stepsQueue(worker);
      const one: Placed = { queue, scope: new CancellationScope({ cancellable: true, parent }), hasMoved: false };
      this.#placed.add(one);
      placed(one);
    }
  }
}

/** A run whose labels do not fit one worker has ended before. */
function textOf(labels: SelectedLabels): string {
  const joined = joinedLabels(Object.values(labels));
  return 'labels' in joined ? joined.labels : '';
}

/** Null for a run that needs no worker of its own. A child run is bound as the run that runs it, unless its steps need labels. */
export function oneWorkerOf(
  { request, worker }: EngineRun,
  carried: Pick<CarriedRun, 'boundTo'> | null,
  host: OneWorkerHost,
): OneWorker | null {
  const { workflow } = request;
  const ofParent = selectingSteps(workflow).length === 0 ? worker : undefined;
  if (ofParent === undefined && !needsOneWorker(workflow)) return null;
  return new OneWorker(host, (carried === null ? ofParent : carried.boundTo) ?? null);
}
