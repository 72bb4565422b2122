import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { LockHolder } from '#core/run/run.ts';
import {
  type EnterQueue,
  LOCAL_CALL,
  NAMES,
  type QueueCalls,
  type QueuedNotice,
  type QueuedRun,
  type RunQueueRef,
} from '../protocol.ts';

/** The slots of a run in its queues. */
export class QueueMembership {
  readonly #queues: readonly RunQueueRef[];
  readonly #workflow: string;
  readonly #blocked: (name: string, holder: LockHolder | null) => void;
  readonly #asked: Set<string>;
  readonly #admitted: Set<string>;
  #isHeld: boolean;
  /** Messages to queues that have not been delivered yet. */
  #pending = 0;
  #left: Promise<void> | null = null;

  /** `blocked`: called with the queue that the run waits for, and what holds it. `carried`: of a run that is continued. */
  constructor(
    queues: readonly RunQueueRef[],
    workflow: string,
    blocked: (name: string, holder: LockHolder | null) => void,
    carried: QueuedRun = { asked: [], admitted: [], isHeld: false },
  ) {
    this.#queues = queues;
    this.#workflow = workflow;
    this.#blocked = blocked;
    this.#asked = new Set(carried.asked);
    this.#admitted = new Set(carried.admitted);
    this.#isHeld = carried.isHeld;
  }

  /** What the next execution of the run takes over, since its queues know the run by its id; undefined: it has no queue. */
  get carried(): QueuedRun | undefined {
    if (this.#queues.length === 0) return undefined;
    return { asked: [...this.#asked], admitted: [...this.#admitted], isHeld: this.#isHeld };
  }

  /** Whether all messages have reached their queues. Temporal drops those of an execution that closes before. */
  get isDelivered(): boolean {
    return this.#pending === 0;
  }

  /** Resolves when the run has a slot in each queue, one after another. Ends with the cancellation scope of the call. */
  async enter(): Promise<void> {
    const { [NAMES.enterQueue]: enterQueue } = proxyLocalActivities<Pick<QueueCalls, EnterQueue>>(LOCAL_CALL);
    const { workflowId: runId, startTime } = workflowInfo();
    for (const { id, limit } of this.#queues) {
      this.#asked.add(id);
      await enterQueue(id, { runId, workflow: this.#workflow, limit, startedAt: startTime.getTime() });
      await condition(() => this.#admitted.has(id));
    }
  }

  /** Takes a message of a queue. */
  take(notice: QueuedNotice): void {
    if (notice.type === 'admitted') this.#admitted.add(notice.queue);
    const { name } = this.#queues.find(({ id }) => id === notice.queue) ?? {};
    if (notice.type === 'blocked' && name !== undefined && !this.#admitted.has(notice.queue))
      this.#blocked(name, notice.holder);
  }

  /** Frees the slots while the run waits only for approvals. */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld || this.#admitted.size === 0) return;
    this.#isHeld = isHeld;
    for (const id of this.#admitted) this.#sendHold(id, isHeld);
  }

  #sendHold(id: string, isHeld: boolean): void {
    const settle = () => {
      this.#pending -= 1;
    };
    this.#pending += 1;
    // A queue that does not exist, for example since it was terminated, has no slots to free.
    getExternalWorkflowHandle(id).signal(NAMES.hold, workflowInfo().workflowId, isHeld).then(settle, settle);
  }

  /** Resolves when the queues know that the run needs no slot any more. */
  leave(): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  async #leave(): Promise<void> {
    const { workflowId } = workflowInfo();
    await CancellationScope.nonCancellable(() =>
      Promise.all(
        [...this.#asked].map((id) => getExternalWorkflowHandle(id).signal(NAMES.leave, workflowId).catch(ifGone)),
      ),
    );
  }
}

/** A queue that does not exist, for example since it was terminated, has no slots to free. */
function ifGone(): void {}
