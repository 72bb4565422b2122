import {
  ActivityCancellationType,
  type ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  sleep,
} from '@temporalio/workflow';
import type { Clock } from '#system/clock.ts';
import { type AttemptOrder, DEFAULT_QUEUE } from '../protocol.ts';

/** No limit of Temporal ends an attempt: steps have their own. */
const UNLIMITED = '87600 hours';

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
    readonly order?: AttemptOrder;
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

/** Why an activity failed. */
export function reasonOf({ cause, message }: ActivityFailure): string {
  return cause instanceof ApplicationFailure ? cause.message : (cause?.message ?? message);
}
