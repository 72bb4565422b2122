import type { LockHolder } from '#core/run/run.ts';
import type { QueueEntry } from '../protocol.ts';

/** A run with a slot of a queue. `isHeld`: it waits only for approvals, and takes no slot meanwhile. */
type Slot = { readonly runId: string; readonly workflow: string; readonly since: number; readonly isHeld: boolean };

/** A run that waits. `known`: the run that it knows as the holder, null: an unknown one; absent: it was not notified yet. */
type Waiter = QueueEntry & { readonly known?: string | null };

/** The runs of a queue, as JSON. `waiting`: in the order in which they get slots. */
export type QueueState = { readonly slots: readonly Slot[]; readonly waiting: readonly Waiter[] };

/** What a run of a queue is to know: it has a slot, or waits for that of `holder` (null: unknown). */
export type QueueNotice =
  | { readonly to: string; readonly type: 'admitted' }
  | { readonly to: string; readonly type: 'blocked'; readonly holder: LockHolder | null };

/** This many runs learn who holds the slots; those behind them would get a message for each run before them. */
const INFORMED_WAITERS = 10;

/**
 * Decides which runs of a queue have its slots: those that were started first, each if the limit that it brings leaves
 * room beside the others. Each method returns what runs are to know then; repeated calls are harmless.
 */
export class RunQueue {
  #slots: readonly Slot[];
  #waiting: readonly Waiter[];

  constructor({ slots, waiting }: QueueState) {
    this.#slots = slots;
    this.#waiting = waiting;
  }

  get state(): QueueState {
    return { slots: this.#slots, waiting: this.#waiting };
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0 && this.#waiting.length === 0;
  }

  /** Puts a run among those that wait, by the time of its start; one that has a slot is notified again. */
  enter(entry: QueueEntry, now: number): readonly QueueNotice[] {
    const { runId } = entry;
    if (this.#slots.some((slot) => slot.runId === runId)) return [{ to: runId, type: 'admitted' }];
    const others = this.#waiting.filter((waiter) => waiter.runId !== runId);
    this.#waiting = [...others, entry].sort(byStart);
    return this.#admit(now);
  }

  /** Removes runs that need no slot any more, or have ended. */
  leave(runIds: readonly string[], now: number): readonly QueueNotice[] {
    const stays = ({ runId }: { readonly runId: string }) => !runIds.includes(runId);
    this.#slots = this.#slots.filter(stays);
    this.#waiting = this.#waiting.filter(stays);
    return this.#admit(now);
  }

  /** Frees the slot of a run that waits only for approvals, or takes it again, even beyond the limit. */
  hold(runId: string, isHeld: boolean, now: number): readonly QueueNotice[] {
    this.#slots = this.#slots.map((slot) => (slot.runId === runId ? { ...slot, isHeld } : slot));
    return this.#admit(now);
  }

  #admit(now: number): readonly QueueNotice[] {
    const notices: QueueNotice[] = [];
    for (let [next] = this.#waiting; next !== undefined && this.#taken < next.limit; [next] = this.#waiting) {
      const { runId, workflow } = next;
      this.#waiting = this.#waiting.slice(1);
      this.#slots = [...this.#slots, { runId, workflow, since: now, isHeld: false }];
      notices.push({ to: runId, type: 'admitted' });
    }
    return [...notices, ...this.#inform()];
  }

  get #taken(): number {
    return this.#slots.filter(({ isHeld }) => !isHeld).length;
  }

  /** Tells runs that wait who holds a slot, if that has changed. */
  #inform(): readonly QueueNotice[] {
    const first = this.#slots.find(({ isHeld }) => !isHeld);
    if (first === undefined) return [];
    const { runId, workflow, since } = first;
    const notices: QueueNotice[] = [];
    this.#waiting = this.#waiting.map((waiter, index) => {
      const isInformed = index < INFORMED_WAITERS;
      const known = isInformed ? runId : (waiter.known ?? null);
      if (waiter.known === known) return waiter;
      const holder = isInformed ? { runId, workflow, step: null, since } : null;
      notices.push({ to: waiter.runId, type: 'blocked', holder });
      return { ...waiter, known };
    });
    return notices;
  }
}

function byStart(one: QueueEntry, other: QueueEntry): number {
  return one.startedAt - other.startedAt || (one.runId < other.runId ? -1 : 1);
}
