import type { CarriedRun } from '../protocol.ts';

/**
 * When a run continues in a new execution. A replay costs 3.5 ms for each attempt, and a history has at most 51,200 events.
 * `idle`: from this number of attempts on, as soon as none is in flight. `pauses`: at each of these numbers no new attempt begins
 * for at most `pauseMs`, so that this moment comes; at the last one without a limit.
 */
export type ContinuationLimits = {
  readonly idle: number;
  readonly pauses: readonly number[];
  readonly pauseMs: number;
};

const limitsOfRuns: ContinuationLimits = { idle: 500, pauses: [1000, 2000, 4000, 8000], pauseMs: 60_000 };

/** Decides when a run continues in a new execution. */
export class Continuation {
  readonly #limits: ContinuationLimits;
  #attempts = 0;
  #pauses = 0;

  constructor(limits = limitsOfRuns) {
    this.#limits = limits;
  }

  /** Attempts of this execution. */
  get attempts(): number {
    return this.#attempts;
  }

  /** Whether the history of this execution takes no more attempts. */
  get isFull(): boolean {
    return this.#attempts >= (this.#limits.pauses.at(-1) ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Counts an attempt that begins. Returns for how long no other one begins after it, in milliseconds; null: they may.
   * `isHeld`: something in flight does not end before other attempts begin.
   */
  count(isHeld = false): number | null {
    const { pauses, pauseMs } = this.#limits;
    this.#attempts += 1;
    if (isHeld || this.#attempts < (pauses[this.#pauses] ?? Number.POSITIVE_INFINITY)) return null;
    this.#pauses += 1;
    return this.#pauses === pauses.length ? Number.POSITIVE_INFINITY : pauseMs;
  }

  /** Whether the run continues in a new execution once nothing is in flight. `isSuggested`: by the server. */
  isDue(isSuggested: boolean): boolean {
    return this.#attempts >= this.#limits.idle || (isSuggested && this.#attempts > 0);
  }
}

/** The most weight of what a run carries: 2 MB compressed is the limit of the server. */
const MAX_WEIGHT = 1_800_000;
/** From here on events are left behind that the history of this execution begins with. */
const FULL_WEIGHT = 1_000_000;

/**
 * What a run takes along: all events, or those of this execution if all are too many. A reader finds the others at the
 * beginning of this execution. `own`: how many events this execution began with. Null: even that is too much.
 */
export function carriedRun(all: CarriedRun, own: number): CarriedRun | null {
  const { events, after } = all;
  const state = weightOf(all.state) + weightOf(all.outputs) + weightOf(all.evaluated);
  if (state + weightOf(events) <= FULL_WEIGHT) return all;
  const rest = { ...all, events: events.slice(own), after: after + own };
  return state + weightOf(rest.events) <= MAX_WEIGHT ? rest : null;
}

/** About how many bytes a value has when it is compressed: keys, names and words repeat, other texts may not. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'number') return value === 0 ? 0 : 4;
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 2 + weightOf(item), 0);
  return Object.entries(value).reduce((sum, [key, item]) => sum + (isRepeated(key, item) ? 4 : weightOf(item)), 0);
}

/** The name of a step or a word of the journal. */
function isRepeated(key: string, value: unknown): boolean {
  return typeof value === 'string' && (key === 'type' || key === 'step' || key === 'name' || key === 'status');
}
