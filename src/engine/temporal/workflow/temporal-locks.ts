import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { failed } from '#core/run/outcome.ts';
import type { Outcome, Outputs } from '#core/run/run.ts';
import type { Lock } from '#core/workflow.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import { lockLimitMs, RunLocks, type TakenLocks } from '../../attempt/run-locks.ts';
import type { Driver, PreparedRun } from '../../driver/driver.ts';
import { notStarted, type StepTask } from '../../driver/step-task.ts';
import type { OuterLock } from '../../engine.ts';
import {
  attemptId,
  type EngineRun,
  type HeldLocks,
  type LockNames,
  type LockNamesOrder,
  NAMES,
  SHORT_QUEUE,
} from '../protocol.ts';
import { clock, reasonOf, scheduleWork, within } from './activities.ts';
import { LockRequests } from './lock-requests.ts';

/** A run whose locks are taken. `carried`: what an earlier execution has left. */
type LockedRun = {
  readonly run: EngineRun;
  readonly carried: HeldLocks | undefined;
  readonly outputs: () => Outputs;
  readonly isCanceled: () => boolean;
  readonly driver: Driver;
};

/** The locks of a run and of its attempts. */
export class TemporalLocks {
  readonly requests: LockRequests;
  readonly #own: LockedRun;
  readonly #locks: RunLocks;

  constructor(own: LockedRun) {
    this.#own = own;
    const { run, carried, driver } = own;
    const { prefix = '', pools = [] } = run.locks ?? {};
    this.requests = new LockRequests({ prefix }, carried);
    const poolOf = (name: string) => pools.find((pool) => pool.name === name);
    const locks = {
      open: () => Promise.resolve(this.requests),
      sizeOf: (_: unknown, name: string) => poolOf(name)?.slots ?? 1,
      perMinute: (name: string) => poolOf(name)?.perMinute ?? null,
    };
    const outer = carried?.outer ?? run.request.outerLocks ?? [];
    this.#locks = new RunLocks({ locks, clock }, outer, (input) => driver.post(input));
  }

  /** What the next execution takes over. */
  get carried(): HeldLocks {
    return { ...this.requests.carried, outer: this.#locks.around('') };
  }

  /** See `RunLocks`. */
  around(step: string): readonly OuterLock[] {
    return this.#locks.around(step);
  }

  /** Takes the locks of the run. Returns null, why it cannot have them, or that it was stopped meanwhile. */
  async ofRun(locks: readonly Lock[], stop: EndSignal): Promise<PreparedRun | 'stopped' | null> {
    const { run, driver } = this.#own;
    const { runId, workflow } = run.request;
    const taken = await this.#locks.ofRun(locks, {
      by: { runId, workflow: workflow.name, step: null },
      stop,
      limitMs: workflow.lockTimeoutMs ?? 0,
      blocked: (why, name, holder) => driver.note({ type: 'run.blocked', at: clock.now(), why, name, holder }),
    });
    if (!('refusal' in taken)) return null;
    return taken.refusal === null ? 'stopped' : { problem: taken.refusal.message };
  }

  /** Takes the locks of an attempt, whose names a worker evaluates. */
  async ofAttempt(task: StepTask, stop: EndSignal): Promise<TakenLocks | { readonly outcome: Outcome }> {
    const { step, number } = task;
    const { run, outputs, isCanceled } = this.#own;
    const { runId, workflow } = run.request;
    const order: LockNamesOrder = { task, outputs: outputs() };
    const scope = new CancellationScope();
    stop.onAbort(() => scope.cancel());
    try {
      const named = await within(scope, () =>
        scheduleWork<LockNames>(NAMES.lockNames, {
          id: `${NAMES.lockNames}#${attemptId(step.name, number)}`,
          attempts: Number.POSITIVE_INFINITY,
          lostAfterMs: run.lostAfterMs,
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
          limitMs: lockLimitMs(step, isCanceled()),
        },
      );
      return 'refusal' in taken ? { outcome: taken.refusal ?? notStarted } : taken;
    } catch (error) {
      if (isCancellation(error)) return { outcome: notStarted };
      if (error instanceof ActivityFailure) return { outcome: failed(reasonOf(error)) };
      throw error;
    }
  }
}
