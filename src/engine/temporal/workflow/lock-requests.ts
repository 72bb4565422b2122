import { CancellationScope, condition, getExternalWorkflowHandle, proxyLocalActivities } from '@temporalio/workflow';
import type { HeldLock, LockRequest, LockStore } from '#store/store.ts';
import {
  type EngineLocks,
  type EnterQueue,
  type HeldLocks,
  LOCAL_CALL,
  NAMES,
  type QueueCalls,
  type QueuedNotice,
  type QueueEntry,
} from '../protocol.ts';

type Wait = Parameters<LockStore['acquire']>[1];

/**
 * The requests of a run for locks: each lock is a workflow, as a queue is. A run that is continued in a new execution keeps
 * what it holds.
 */
export class LockRequests implements Pick<LockStore, 'acquire' | 'take'> {
  readonly #prefix: string;
  /** The requests that wait for an answer, by their ids. */
  readonly #waiting = new Map<string, (notice: QueuedNotice) => void>();
  /** The requests that hold a lock, with its queue. */
  readonly #held = new Map<string, string>();
  #count: number;
  /** Messages that are not delivered yet. */
  #pending = 0;

  constructor({ prefix }: Pick<EngineLocks, 'prefix'>, carried: Pick<HeldLocks, 'held' | 'count'> | undefined) {
    this.#prefix = prefix;
    this.#count = carried?.count ?? 0;
    for (const { id, queue } of carried?.held ?? []) this.#held.set(id, queue);
  }

  /** What the next execution takes over. */
  get carried(): Pick<HeldLocks, 'held' | 'count'> {
    return { held: [...this.#held].map(([id, queue]) => ({ id, queue })), count: this.#count };
  }

  /** Whether all messages have reached their locks. Temporal drops those of an execution that closes before. */
  get isDelivered(): boolean {
    return this.#pending === 0;
  }

  /** See `LockStore`. The turn to count a use is a lock of its own, as it is in files. */
  async acquire(request: LockRequest, wait: Wait): Promise<HeldLock | null> {
    const { name, within, perMinute } = request;
    const place = within === undefined ? name : `within=${within}=${name}`;
    const lock = await this.#enter(place, { ...request, perMinute: undefined }, wait);
    if (lock === null || perMinute === undefined) return lock;
    const blocked = () => wait.blocked(null);
    const use = { ...request, mode: 'write', slots: 1, size: Number.MAX_SAFE_INTEGER } as const;
    const turn = await this.#enter(`rate=${name}`, use, { ...wait, blocked });
    if (turn === null) lock.release();
    turn?.release();
    return turn === null ? null : lock;
  }

  /** Runs enter their queues otherwise. */
  take(): never {
    throw new Error('a run of an engine takes no lock without a wait');
  }

  /** Takes an answer. */
  answered(notice: QueuedNotice): void {
    this.#waiting.get(notice.request ?? '')?.(notice);
  }

  /** Releases all locks that are still held: the run ends. */
  releaseAll(): void {
    for (const [id, queue] of [...this.#held]) this.#release(id, queue);
  }

  /** Resolves when all messages have reached their locks. */
  async delivered(): Promise<void> {
    await CancellationScope.nonCancellable(() => condition(() => this.isDelivered));
  }

  async #enter(
    place: string,
    request: Omit<LockRequest, 'perMinute'> & { readonly perMinute?: number | undefined },
    wait: Wait,
  ): Promise<HeldLock | null> {
    const { [NAMES.enterQueue]: enterQueue } = proxyLocalActivities<Pick<QueueCalls, EnterQueue>>(LOCAL_CALL);
    const { mode, slots, size, perMinute, by } = request;
    const queue = `${this.#prefix}${place}`;
    this.#count += 1;
    const id = `${by.runId}#${this.#count}`;
    const entry: QueueEntry = {
      runId: by.runId,
      workflow: by.workflow,
      limit: size,
      startedAt: Date.now(),
      lock: { id, step: by.step, mode, slots, ...(perMinute === undefined ? {} : { perMinute }) },
    };
    let isAdmitted = false;
    this.#waiting.set(id, (notice) => {
      if (notice.type === 'admitted') isAdmitted = true;
      else if (!isAdmitted && !wait.stop.aborted) wait.blocked(notice.holder);
    });
    this.#held.set(id, queue);
    await enterQueue(queue, entry);
    await condition(() => isAdmitted || wait.stop.aborted);
    this.#waiting.delete(id);
    const release = () => this.#release(id, queue);
    if (isAdmitted) return { id, release };
    release();
    return null;
  }

  #release(id: string, queue: string): boolean {
    if (!this.#held.delete(id)) return false;
    const settle = () => {
      this.#pending -= 1;
    };
    this.#pending += 1;
    // A lock that does not exist, for example since its workflow was terminated, has nothing to free.
    getExternalWorkflowHandle(queue).signal(NAMES.leave, id).then(settle, settle);
    return true;
  }
}
