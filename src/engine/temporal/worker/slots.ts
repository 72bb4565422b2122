import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import type { Clock } from '#system/clock.ts';

/** A question that is open for longer has found its queue empty. */
const EMPTY_AFTER_MS = 500;

/** A slot of the library: the right to ask a queue for work, then to do that work. */
type Permit = SlotPermit & { readonly queue: string; state: 'asking' | 'idle' | 'used' };

type Waiter = { readonly queue: string; readonly grant: () => void };

/**
 * The slots of a worker, which all its queues share. The library needs a slot before it asks a queue for work, so with a slot
 * for each question a worker with more queues than slots would leave queues unasked. So only questions count that may be
 * answered at once, one of each queue; those that have found their queue empty stay open. If such a queue gets work when all
 * slots are taken, `within` refuses it.
 */
export class SharedSlots {
  readonly #total: number;
  readonly #clock: Clock;
  readonly #permits = new Set<Permit>();
  readonly #waiting = new Set<Waiter>();
  #running = 0;

  constructor(total: number, clock: Clock) {
    this.#total = total;
    this.#clock = clock;
  }

  /** Does work that a queue has given. Rejects with `refusal` if no slot is free: the work must be given back. */
  async within<T>(work: () => Promise<T>, refusal: () => Error): Promise<T> {
    if (this.#running >= this.#total) throw refusal();
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#admit();
    }
  }

  /** What the library asks for slots. */
  get supplier(): CustomSlotSupplier<ActivitySlotInfo> {
    return {
      type: 'custom',
      reserveSlot: ({ taskQueue }, signal) => this.#reserve(taskQueue, signal),
      tryReserveSlot: ({ taskQueue }) => (this.#taken < this.#total ? this.#permit(taskQueue) : null),
      markSlotUsed: ({ permit }) => {
        (permit as Permit).state = 'used';
        this.#admit();
      },
      releaseSlot: ({ permit }) => {
        this.#permits.delete(permit as Permit);
        this.#admit();
      },
    };
  }

  get #taken(): number {
    let counted = 0;
    for (const { state } of this.#permits) if (state !== 'idle') counted += 1;
    return Math.max(counted, this.#running);
  }

  /** The library asks for a slot before its last question was answered. */
  #mayAsk(queue: string): boolean {
    for (const permit of this.#permits) if (permit.queue === queue && permit.state !== 'used') return false;
    return this.#taken < this.#total;
  }

  #permit(queue: string): Permit {
    const permit: Permit = { queue, state: 'asking' };
    this.#permits.add(permit);
    this.#clock.setTimer(this.#clock.now() + EMPTY_AFTER_MS, () => {
      if (permit.state !== 'asking') return;
      permit.state = 'idle';
      this.#admit();
    });
    return permit;
  }

  #reserve(queue: string, signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter = {
        queue,
        grant: () => {
          signal.removeEventListener('abort', end);
          resolve(this.#permit(queue));
        },
      };
      if (signal.aborted) return end();
      this.#waiting.add(waiter);
      signal.addEventListener('abort', end, { once: true });
      this.#admit();
    });
  }

  /** Lets queues ask for work, those that have waited longest first. */
  #admit(): void {
    for (const waiter of this.#waiting) {
      if (!this.#mayAsk(waiter.queue)) continue;
      this.#waiting.delete(waiter);
      waiter.grant();
    }
  }
}
