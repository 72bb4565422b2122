import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { type EndedRuns, LOCAL_CALL, NAMES, type QueueCalls, type QueueEntry } from '../protocol.ts';
import { type QueueNotice, type QueueState, RunQueue } from './run-queue.ts';

/** A queue continues with a new history when the present one has this many events. */
const MAX_EVENTS = 1000;
/** Pauses between two looks for runs that have ended without leaving: the first, and the longest. */
const LOOK_MS = { first: 10_000, longest: 60_000 };

/** The workflow of a queue: it has the slots of the queue, and ends when no run needs it. `carried`: of its last history. */
export async function queueWorkflow(carried?: QueueState): Promise<void> {
  const hosted = new HostedQueue(new RunQueue(carried ?? { slots: [], waiting: [] }));
  setHandler(defineSignal<[QueueEntry]>(NAMES.enter), (entry) => hosted.enter(entry));
  setHandler(defineSignal<[string]>(NAMES.leave), (id) => hosted.leave([id]));
  setHandler(defineSignal<[string, boolean]>(NAMES.hold), (runId, isHeld) => hosted.hold(runId, isHeld));
  const looking = new CancellationScope();
  looking.run(() => hosted.lookForEndedRuns()).catch(() => {});
  looking.run(() => hosted.passInTime()).catch(() => {});
  await condition(() => hosted.isDone || hosted.isLong);
  const { state, isDone } = hosted;
  if (!isDone) await continueAsNew<typeof queueWorkflow>(state);
}

/** A queue in its workflow. */
class HostedQueue {
  readonly #queue: RunQueue;
  readonly #id = workflowInfo().workflowId;
  /** Messages that are not delivered yet, and calls that have not returned. */
  #pending = 0;

  constructor(queue: RunQueue) {
    this.#queue = queue;
  }

  get state(): QueueState {
    return this.#queue.state;
  }

  get isDone(): boolean {
    return this.#queue.isEmpty && this.#pending === 0;
  }

  get isLong(): boolean {
    return this.#pending === 0 && workflowInfo().historyLength >= MAX_EVENTS;
  }

  enter(entry: QueueEntry): void {
    this.#send(this.#queue.enter(entry, Date.now()));
  }

  leave(ids: readonly string[]): void {
    this.#send(this.#queue.leave(ids, Date.now()));
  }

  hold(runId: string, isHeld: boolean): void {
    this.#send(this.#queue.hold(runId, isHeld, Date.now()));
  }

  /**
   * While runs wait, looks for runs that have ended without freeing their slots, such as terminated ones; one that waits
   * is found when it gets a slot. Ends with its scope.
   */
  async lookForEndedRuns(): Promise<never> {
    const { [NAMES.endedRuns]: endedRuns } = proxyLocalActivities<Pick<QueueCalls, EndedRuns>>(LOCAL_CALL);
    for (;;) {
      await condition(() => this.state.waiting.length > 0);
      for (let pauseMs = 0; this.state.waiting.length > 0; pauseMs = nextPause(pauseMs)) {
        if (pauseMs > 0) await sleep(pauseMs);
        this.#pending += 1;
        const ended = await endedRuns([...new Set(this.state.slots.map(({ runId }) => runId))]);
        this.#pending -= 1;
        if (ended.length > 0) this.leave(ended);
      }
    }
  }

  /** Of a lock with a rate: gives slots out when a use is more than a minute old. Ends with its scope. */
  async passInTime(): Promise<never> {
    for (;;) {
      await condition(() => this.#queue.nextAt !== null);
      await sleep(Math.max(1, (this.#queue.nextAt ?? 0) - Date.now()));
      this.#send(this.#queue.pass(Date.now()));
    }
  }

  #send(notices: readonly QueueNotice[]): void {
    for (const { to, ...notice } of notices) {
      this.#pending += 1;
      const run = getExternalWorkflowHandle(to);
      run.signal(NAMES.queued, { ...notice, queue: this.#id }).then(
        () => {
          this.#pending -= 1;
        },
        () => {
          this.#pending -= 1;
          // Only a run that has ended, or was removed, cannot get a message.
          this.leave([to]);
        },
      );
    }
  }
}

function nextPause(pauseMs: number): number {
  return pauseMs === 0 ? LOOK_MS.first : Math.min(2 * pauseMs, LOOK_MS.longest);
}
