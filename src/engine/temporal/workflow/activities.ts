import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Clock } from '#system/clock.ts';
import {
  type CleanUpOrder,
  DEFAULT_QUEUE,
  type EngineWarning,
  NAMES,
  NO_SLOT,
  ownQueue,
  UNREADABLE,
} from '../protocol.ts';

/** No limit of Temporal ends an attempt: steps have their own. */
export const UNLIMITED = '87600 hours';

/** Time and timers of the workflow, which are the same when it is replayed. */
export const clock: Clock = {
  now: () => Date.now(),
  elapsed: () => Date.now(),
  setTimer: (at, callback) => {
    const scope = new CancellationScope();
    within(scope, () => sleep(Math.max(1, at - Date.now()))).then(callback, () => {});
    return () => scope.cancel();
  },
};

/** The promise that `work` returned in the scope. That of `scope.run` is settled later, and how much later differs. */
export function within<T>(scope: CancellationScope, work: () => Promise<T>): Promise<T> {
  let started: Promise<T> | undefined;
  const run = scope.run(() => {
    started = work();
    return started;
  });
  run.catch(() => {});
  return started ?? run;
}

/** Orders an activity. */
export function scheduleActivity<T>(type: string, args: readonly unknown[], options: ActivityOptions): Promise<T> {
  const activity = proxyActivities<Record<string, (...args: readonly unknown[]) => Promise<T>>>(options)[type];
  if (activity === undefined) throw new Error(`there is no activity "${type}"`);
  return activity(...args);
}

/**
 * Orders work that a worker confirms by heartbeats. `id`: by which a replay knows it; `attempts`: how often Temporal tries it;
 * `lostAfterMs`: how long its worker may be silent.
 */
export function scheduleWork<T>(
  type: string,
  own: {
    readonly id: string;
    readonly attempts: number;
    readonly lostAfterMs: number;
    readonly order?: unknown;
    /** By default, that of runs. */
    readonly queue?: string;
  },
): Promise<T> {
  const { id, attempts, lostAfterMs, order, queue = DEFAULT_QUEUE } = own;
  return scheduleActivity<T>(type, order === undefined ? [] : [order], {
    activityId: id,
    taskQueue: queue,
    startToCloseTimeout: UNLIMITED,
    heartbeatTimeout: lostAfterMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: attempts, initialInterval: 1000, maximumInterval: 10_000 },
  });
}

/** How long the end of a run waits for a worker to end what its steps left behind. */
const CLEAN_UP_PATIENCE = '30 seconds';

/** Ends what steps of a run left behind on a worker; one that does not answer has its guard. Returns warnings. */
export function cleanUp(worker: string, order: CleanUpOrder): Promise<readonly EngineWarning[]> {
  return scheduleActivity<readonly EngineWarning[]>(NAMES.cleanUp, [order], {
    activityId: `${NAMES.cleanUp}#${worker}`,
    taskQueue: ownQueue(worker),
    scheduleToCloseTimeout: CLEAN_UP_PATIENCE,
    retry: { maximumAttempts: 1 },
  }).catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = `the worker "${worker}" did not say whether all processes of the run have ended`;
    return [{ step: null, message }];
  });
}

/** Why an activity failed. */
export function reasonOf({ cause, message }: ActivityFailure): string {
  return cause instanceof ApplicationFailure ? cause.message : (cause?.message ?? message);
}

/**
 * Why work has no result. `not-begun`: no worker has begun with it, so it can be ordered again; `unreadable`: the same, since
 * a worker cannot read it; `lost`: the worker has begun.
 */
export type NoResult =
  | { readonly type: 'canceled' | 'not-begun' }
  | { readonly type: 'unreadable' | 'failed'; readonly message: string }
  | { readonly type: 'lost'; readonly worker: string };

/** Why the work of `scheduleWork` has no result. Throws other errors than those of an activity. */
export function noResult(error: unknown): NoResult {
  if (isCancellation(error)) return { type: 'canceled' };
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === NO_SLOT) return { type: 'not-begun' };
  if (cause instanceof ApplicationFailure && cause.type === UNREADABLE)
    return { type: 'unreadable', message: cause.message };
  if (!(cause instanceof TimeoutFailure)) return { type: 'failed', message: reasonOf(error) };
  const worker: unknown = cause.lastHeartbeatDetails;
  return typeof worker === 'string' ? { type: 'lost', worker } : { type: 'not-begun' };
}

/** Waits between orders that workers with another key cannot read. */
const MAX_UNREAD_WAIT_MS = 30_000;

/** Resolves when work may be ordered again that workers could not read this number of times. Ends with its scope. */
export function unreadPause(times: number): Promise<void> {
  return sleep(Math.min(500 * 2 ** times, MAX_UNREAD_WAIT_MS));
}
