import type { BlockedBy, RunInput } from '#core/run/run.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import type { HeldLock, LockRequest, LockStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { unlessRefused } from '#system/errors.ts';

/** The locks and queues of this home. */
export type LockOptions = {
  /** Opens them; loads their module. */
  readonly open: () => Promise<LockStore>;
  /** The slots of a lock or a queue. */
  readonly sizeOf: (kind: BlockedBy, name: string) => number;
};

/** A slot of a queue. A run that waits only for approvals gives it back, and takes it again even beyond the limit. */
export type QueueSlot = {
  readonly hold: (isHeld: boolean) => void;
  readonly leave: () => void;
};

/** An attempt that waits. */
type WaitingAttempt = { readonly step: { readonly name: string }; readonly number: number; readonly signal: EndSignal };

/** Takes the locks of a run and its attempts, and reports their waits as inputs of the run. */
export class RunLocks {
  readonly #locks: LockOptions;
  readonly #clock: Clock;
  readonly #post: (input: RunInput) => void;
  /** How often the present attempt at a step reported that it waits. */
  readonly #reports = new Map<string, { readonly attempt: number; count: number }>();

  constructor(options: { readonly locks: LockOptions; readonly clock: Clock }, post: (input: RunInput) => void) {
    this.#locks = options.locks;
    this.#clock = options.clock;
    this.#post = post;
  }

  /**
   * Waits for a slot in the queue of a sub-workflow; null if the attempt was stopped meanwhile. Rejects with a `WfError`
   * `storage`.
   */
  async enterQueue(name: string, by: LockRequest['by'], attempt: WaitingAttempt): Promise<QueueSlot | null> {
    const store = await this.#locks.open();
    const request = this.#queue(name, by);
    const { step, number, signal } = attempt;
    const own = () => ({ at: this.#clock.now(), step: step.name, attempt: number });
    const reports = this.#reports.get(step.name);
    const counted = reports?.attempt === number ? reports : { attempt: number, count: 0 };
    this.#reports.set(step.name, counted);
    const before = counted.count;
    const lock = await store.acquire(request, {
      stop: signal,
      blocked: (holder) => {
        counted.count += 1;
        this.#post({ type: 'attempt-blocked', ...own(), why: 'queue', name, holder, report: counted.count });
      },
    });
    if (lock !== null && counted.count > before)
      this.#post({ type: 'attempt-acquired', ...own(), report: counted.count });
    return lock && slotOf(store, request, lock);
  }

  /** Enters the queue of a run that no other run started. `waits`: it waits until there is a slot, or `stop` is aborted. */
  async enterOwnQueue(name: string, by: LockRequest['by'], stop: EndSignal, waits: boolean): Promise<QueueSlot | null> {
    const store = await this.#locks.open();
    const request = this.#queue(name, by);
    const lock = waits ? await store.acquire(request, { stop, blocked: () => {} }) : store.take(request);
    return lock && slotOf(store, request, lock);
  }

  #queue(name: string, by: LockRequest['by']): LockRequest {
    return { kind: 'queue', name, size: this.#locks.sizeOf('queue', name), mode: 'write', slots: 1, by };
  }
}

function slotOf(store: LockStore, request: LockRequest, first: HeldLock): QueueSlot {
  let lock: HeldLock | null = first;
  let isLeft = false;
  return {
    hold: (isHeld) => {
      if (isLeft || isHeld === (lock === null)) return;
      // If the disk refuses, the slot is not counted, but the run continues as it does for its journal.
      unlessRefused(null, () => lock?.release());
      lock = isHeld ? null : unlessRefused(null, () => store.take(request));
    },
    leave: () => {
      isLeft = true;
      unlessRefused(null, () => lock?.release());
      lock = null;
    },
  };
}
