import { CancellationScope } from '@temporalio/workflow';
import { mailOccasion, notifiedEvent } from '#core/notification-event.ts';
import type { Outputs } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import { NOTIFY_TIMEOUT_MS } from '../../driver/timers.ts';
import type { NoticeStatus } from '../../engine.ts';
import { type EngineWarning, NAMES, type NoticeOrder, SHORT_QUEUE } from '../protocol.ts';
import { clock, noResult, scheduleWork, unreadPause, within } from './activities.ts';

/** The run that notices are about. */
export type NoticesHost = {
  readonly workflow: Workflow;
  /** How long a worker may be silent, in milliseconds. */
  readonly lostAfterMs: number;
  readonly state: () => RunState;
  /** How many events the run has. */
  readonly events: () => number;
  /** The variables that were set since the evaluation of the run. */
  readonly outputs: () => Outputs;
  readonly warn: (warning: EngineWarning) => void;
  /** Called with an internal error. */
  readonly fail: (error: unknown) => void;
};

/**
 * The mails and notifications of a run: activities on any worker, each of which is begun at most once. Their failures are
 * warnings.
 */
export class RunNotices {
  readonly #host: NoticesHost;
  readonly #pending = new Set<CancellationScope>();
  #count = 0;

  constructor(host: NoticesHost) {
    this.#host = host;
  }

  get arePending(): boolean {
    return this.#pending.size > 0;
  }

  /** Sends what is asked for about a step or, if it is null, about the run. A fan-out has one for all its instances. */
  send(step: Step | null, status: NoticeStatus): void {
    const { workflow, state, events, outputs, warn } = this.#host;
    const about = { step, status, workflow, state: state() };
    if (step?.instanceOf !== undefined) return;
    if (mailOccasion(about) === null && notifiedEvent(about) === null) return;
    const order: NoticeOrder = { step: step?.name ?? null, status, events: events(), outputs: outputs() };
    const scope = new CancellationScope();
    this.#pending.add(scope);
    this.#count += 1;
    const id = `${NAMES.notice}#${this.#count}#${status}${step === null ? '' : `#${step.name}`}`;
    const done = (warnings: readonly EngineWarning[]) => {
      this.#pending.delete(scope);
      for (const warning of warnings) warn(warning);
    };
    this.#order(order, { id, scope, unread: 0, done });
  }

  /** Abandons those that are still pending after the time that a finished run waits for them. */
  limit(): void {
    clock.setTimer(clock.now() + NOTIFY_TIMEOUT_MS, () => this.abandon());
  }

  /** Ends the notices that are not sent yet. */
  abandon(): void {
    for (const scope of [...this.#pending]) scope.cancel();
  }

  #order(order: NoticeOrder, own: Sending): void {
    const { lostAfterMs, fail } = this.#host;
    const { id, scope, done } = own;
    const { step, status } = order;
    const failed = (why: string) =>
      done([{ step, message: `the notice about this ${step === null ? 'run' : 'step'} (${status}) ${why}` }]);
    const sent = within(scope, () =>
      scheduleWork<readonly EngineWarning[]>(NAMES.notice, {
        id,
        attempts: 1,
        lostAfterMs,
        order,
        queue: SHORT_QUEUE,
      }),
    ).then(done, (error: unknown) => {
      const why = noResult(error);
      if (why.type === 'canceled') return failed('was not sent: no worker took it in time');
      if (why.type === 'failed') return failed(`was not sent: ${why.message}`);
      // It may have been sent already: it is not repeated.
      if (why.type === 'lost') return failed(`may not have been sent: the worker "${why.worker}" was lost`);
      if (why.type === 'not-begun') return this.#order(order, own);
      const unread = own.unread + 1;
      const again = within(scope, () => unreadPause(unread)).then(
        () => this.#order(order, { ...own, unread }),
        () => failed('was not sent: no worker could read it'),
      );
      again.catch(fail);
    });
    sent.catch(fail);
  }
}

/** A notice that is ordered. `unread`: how many workers could not read it. */
type Sending = {
  readonly id: string;
  readonly scope: CancellationScope;
  readonly unread: number;
  readonly done: (warnings: readonly EngineWarning[]) => void;
};
