import { mayStartAhead } from '#core/run/policies.ts';
import type { RunPolicies, RunState } from '#core/run/run-state.ts';
import { handlerKind, type Step } from '#core/workflow.ts';
import type { ProgramSlot } from '#executors/executor.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import type { Clock } from '#system/clock.ts';

/** Steps scheduled beyond the limit. */
const STEPS_AHEAD = 4;
/** After a longer program, the time until the next one starts does not matter. In milliseconds. */
const LONG_PROGRAM_MS = 100;

let runs = 0;

/** The slot of an attempt. */
export type AttemptSlot = {
  /** Of its program; null if the attempt need not wait for a slot. */
  readonly program: ProgramSlot | null;
  /** Call when the program has started. */
  readonly started: () => void;
  /** Call when the attempt has ended. */
  readonly leave: () => void;
};

/** What matters of a `RunRecord`. */
type RunCounts = {
  readonly state: Pick<RunState, 'active'> & { readonly policies: Pick<RunPolicies, 'maxActiveSteps'> };
};

/**
 * The limit of a run on the steps that run at once. Between the end of a program and the start of the next one, this
 * process has to read the end, record it and prepare the attempt. So it schedules some steps ahead, beyond the limit, and
 * the starter of programs starts the next one as soon as one ends. That happens only while the starter starts the programs
 * of all attempts, so that their number is the number of steps that run, and as long as the programs are short.
 */
export class RunSlots {
  readonly #record: RunCounts;
  readonly #clock: Clock;
  readonly #group = ++runs;
  /** Attempts whose program the starter has started or will start. */
  #queued = 0;
  /** All other attempts. */
  #others = 0;
  #areShort = false;
  /** Attempts beyond the limit that the starter does not start. */
  readonly #waiting = new Set<() => void>();

  constructor(record: RunCounts, clock: Clock) {
    this.#record = record;
    this.#clock = clock;
  }

  get #limit(): number {
    return this.#record.state.policies.maxActiveSteps;
  }

  /** How many steps may be scheduled beyond the limit. */
  get ahead(): number {
    return this.#limit > 0 && this.#queued > 0 && this.#others === 0 && this.#areShort ? STEPS_AHEAD : 0;
  }

  /** For an attempt that has been scheduled. */
  enter(step: Step, signal: EndSignal): AttemptSlot {
    this.#others += 1;
    if (this.#limit === 0 || handlerKind(step.name) !== null || !mayStartAhead(step)) {
      const leave = () => {
        this.#others -= 1;
      };
      return { program: null, started: () => {}, leave };
    }
    let isQueued = false;
    let startedAt: number | null = null;
    return {
      program: {
        group: this.#group,
        limit: this.#limit,
        queued: () => {
          isQueued = true;
          this.#queued += 1;
          this.#others -= 1;
        },
        free: () => {
          if (isQueued) {
            this.#queued -= 1;
            this.#others += 1;
          }
          isQueued = false;
          return signal.aborted || this.#isFree() ? null : this.#untilFree(signal);
        },
        isFree: () => this.#isFree(),
      },
      started: () => {
        startedAt = this.#clock.now();
      },
      leave: () => {
        if (isQueued) this.#queued -= 1;
        else this.#others -= 1;
        if (startedAt !== null) this.#areShort = this.#clock.now() - startedAt < LONG_PROGRAM_MS;
      },
    };
  }

  /** Call when the number of active attempts may have changed. */
  admit(): void {
    for (const begin of this.#waiting) {
      if (this.#active >= this.#limit) return;
      begin();
    }
  }

  /** For an attempt that is active and does not wait. */
  #isFree(): boolean {
    return this.#active - 1 < this.#limit;
  }

  get #active(): number {
    return this.#record.state.active - this.#waiting.size;
  }

  #untilFree(signal: EndSignal): Promise<void> {
    return new Promise((resolve) => {
      const begin = () => {
        forget();
        this.#waiting.delete(begin);
        resolve();
      };
      this.#waiting.add(begin);
      const forget = signal.onAbort(begin);
    });
  }
}
