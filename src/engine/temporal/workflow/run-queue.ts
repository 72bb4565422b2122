import type { LockHolder } from '#core/run/run.ts';
import type { LockEntry, QueueEntry } from '../protocol.ts';

/** A run with a slot of a queue. `isHeld`: it waits only for approvals, and takes no slot meanwhile. */
type Slot = {
  readonly runId: string;
  readonly workflow: string;
  readonly since: number;
  readonly isHeld: boolean;
  readonly lock?: LockEntry;
};

/** A run that waits. `known`: the holder that it knows, by its id, null: an unknown one; absent: it was not notified yet. */
type Waiter = QueueEntry & { readonly known?: string | null };

/** The runs of a queue, or the requests for a lock, as JSON. `waiting`: in their order; `uses`: when a lock with a rate was taken. */
export type QueueState = {
  readonly slots: readonly Slot[];
  readonly waiting: readonly Waiter[];
  readonly uses?: readonly number[];
};

/** What a run of a queue is to know: it has a slot, or waits for that of `holder` (null: unknown). */
export type QueueNotice = { readonly to: string; readonly request?: string } & (
  | { readonly type: 'admitted' }
  | { readonly type: 'blocked'; readonly holder: LockHolder | null }
);

/** This many runs learn who holds the slots; those behind them would get a message for each run before them. */
const INFORMED_WAITERS = 10;
const MINUTE_MS = 60_000;

/**
 * Decides which runs of a queue have its slots: those that were started first, each if the limit that it brings leaves
 * room beside the others. A lock is the same, with requests of steps and runs that need several slots or share it. Each method
 * returns what runs are to know then; repeated calls are harmless.
 */
export class RunQueue {
  #slots: readonly Slot[];
  #waiting: readonly Waiter[];
  /** In order, those of the last minute. */
  #uses: readonly number[];

  constructor({ slots, waiting, uses = [] }: QueueState) {
    this.#slots = slots;
    this.#waiting = waiting;
    this.#uses = uses;
  }

  get state(): QueueState {
    const uses = this.#uses.length === 0 ? {} : { uses: this.#uses };
    return { slots: this.#slots, waiting: this.#waiting, ...uses };
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0 && this.#waiting.length === 0 && this.#uses.length === 0;
  }

  /** When `pass` is to be called, since a use is more than a minute old then; null: no use is kept. */
  get nextAt(): number | null {
    const [first] = this.#uses;
    return first === undefined ? null : first + MINUTE_MS;
  }

  /** Puts a run among those that wait, by the time of its start; one that has a slot is notified again. */
  enter(entry: QueueEntry, now: number): readonly QueueNotice[] {
    const id = idOf(entry);
    if (this.#slots.some((slot) => idOf(slot) === id)) return [{ ...addressOf(entry), type: 'admitted' }];
    const others = this.#waiting.filter((waiter) => idOf(waiter) !== id);
    this.#waiting = [...others, entry].sort(byStart);
    return this.pass(now);
  }

  /** Removes requests, or all those of runs, that need no slot any more, or have ended. */
  leave(ids: readonly string[], now: number): readonly QueueNotice[] {
    const stays = (one: Slot | Waiter) => !ids.includes(one.runId) && !ids.includes(idOf(one));
    this.#slots = this.#slots.filter(stays);
    this.#waiting = this.#waiting.filter(stays);
    return this.pass(now);
  }

  /** Frees the slot of a run that waits only for approvals, or takes it again, even beyond the limit. */
  hold(runId: string, isHeld: boolean, now: number): readonly QueueNotice[] {
    this.#slots = this.#slots.map((slot) => (slot.runId === runId ? { ...slot, isHeld } : slot));
    return this.pass(now);
  }

  /** Gives out the slots that are free now. */
  pass(now: number): readonly QueueNotice[] {
    const notices: QueueNotice[] = [];
    this.#uses = this.#uses.filter((at) => now - at < MINUTE_MS);
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next); [next] = this.#waiting) {
      const { runId, workflow, lock } = next;
      this.#waiting = this.#waiting.slice(1);
      this.#slots = [
        ...this.#slots,
        { runId, workflow, since: now, isHeld: false, ...(lock === undefined ? {} : { lock }) },
      ];
      if (lock?.perMinute !== undefined) this.#uses = [...this.#uses, now];
      notices.push({ ...addressOf(next), type: 'admitted' });
    }
    return [...notices, ...this.#inform()];
  }

  /** Whether there is room beside those that have slots: no later one passes a request that does not fit. */
  #fits({ limit, lock }: Waiter): boolean {
    const taken = this.#slots.filter(({ isHeld }) => !isHeld);
    if (lock === undefined) return taken.length < limit;
    const { mode, slots, perMinute = Number.POSITIVE_INFINITY } = lock;
    if (this.#uses.length >= perMinute || taken.some((slot) => slot.lock?.mode !== mode)) return false;
    return mode === 'read' || taken.reduce((sum, slot) => sum + (slot.lock?.slots ?? 0), slots) <= limit;
  }

  /** Tells runs that wait who holds a slot, if that has changed. */
  #inform(): readonly QueueNotice[] {
    const first = this.#slots.find(({ isHeld }) => !isHeld);
    const notices: QueueNotice[] = [];
    this.#waiting = this.#waiting.map((waiter, index) => {
      const isInformed = index < INFORMED_WAITERS && first !== undefined;
      const known = isInformed ? idOf(first) : (waiter.known ?? null);
      if (waiter.known === known) return waiter;
      notices.push({ ...addressOf(waiter), type: 'blocked', holder: isInformed ? holderOf(first) : null });
      return { ...waiter, known };
    });
    return notices;
  }
}

function holderOf({ runId, workflow, since, lock }: Slot): LockHolder {
  return { runId, workflow, step: lock?.step ?? null, since };
}

/** By which a request is known: in a queue, the run that asks. */
function idOf({ runId, lock }: Pick<Slot, 'runId' | 'lock'>): string {
  return lock?.id ?? runId;
}

function addressOf({ runId, lock }: Pick<Slot, 'runId' | 'lock'>): Pick<QueueNotice, 'to' | 'request'> {
  return { to: runId, ...(lock === undefined ? {} : { request: lock.id }) };
}

function byStart(one: QueueEntry, other: QueueEntry): number {
  return one.startedAt - other.startedAt || (idOf(one) < idOf(other) ? -1 : 1);
}
