import { evolve } from '#core/run/evolve.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { RunEvent, StoredEvent } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { Flush, RunJournal } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import type { Recorded } from '../driver/driver.ts';

/** Dependencies of a run record. */
export type RunRecordOptions = {
  readonly journal: RunJournal;
  readonly secrets: RunSecrets;
  /** Called each time the disk refuses a write. */
  readonly onFailure: (error: WfError) => void;
};

/** The last events of a run, which the disk refused. */
type UnstoredEnd = {
  readonly events: readonly RunEvent[];
  readonly masked: readonly RunEvent[];
  readonly failure: WfError;
};

/**
 * Stores a run's events and folds them into two states: the real one, and the masked one, which is the fold of what was
 * stored. If the disk refuses, reporting continues: refused events are kept, reported with number 0, and stored first
 * once the disk accepts writes again.
 */
export class RunRecord {
  readonly #options: RunRecordOptions;
  #state: RunState;
  #shown: RunState;
  #unstored: RunEvent[] = [];
  /** Sequence numbers of each step's last result, and of the last event that set variables for all later steps. */
  readonly #results = new Map<string, number>();
  #lastOutputs = 0;

  constructor(initial: RunState, options: RunRecordOptions) {
    this.#options = options;
    this.#state = initial;
    this.#shown = initial;
  }

  /** The unmasked state. */
  get state(): RunState {
    return this.#state;
  }

  /** The masked state. */
  get shown(): RunState {
    return this.#shown;
  }

  /** Restores events stored earlier, masked and real. */
  resume(stored: readonly RunEvent[], real: readonly RunEvent[]): void {
    const isSame = this.#options.secrets.mask(real) === real;
    this.#shown = stored.reduce(evolve, this.#shown);
    this.#state = isSame ? this.#shown : real.reduce(evolve, this.#state);
  }

  /**
   * Stores events that led to a state. If the disk refuses the final event, the run has failed however its steps ended.
   */
  add(events: readonly RunEvent[], state: RunState): Recorded {
    const masked = this.#options.secrets.mask(events);
    const isSame = masked === events && this.#shown === this.#state;
    const { stored, failure } = this.#store(masked);
    if (failure !== null && events.at(-1)?.type === 'run.finished') return this.#failEnd({ events, masked, failure });
    for (const event of stored) this.#note(event);
    this.#state = state;
    this.#shown = isSame ? state : masked.reduce(evolve, this.#shown);
    return { events, stored };
  }

  /** Resolves when everything so far is on disk, or after `onFailure` was called. */
  async flush(): Promise<void> {
    await this.#orReport(this.#options.journal.flush());
  }

  /**
   * Like `flush`, for attempts that depend on these steps: flushes their results and every variable set so far. `mayQueue`:
   * the starter of programs may do it.
   */
  flushResults(steps: readonly string[], mayQueue: boolean): Flush {
    const last = steps.reduce((seq, step) => Math.max(seq, this.#results.get(step) ?? 0), this.#lastOutputs);
    const { journal } = this.#options;
    const { done, queued } = mayQueue ? journal.queueFlush(last) : { done: journal.flush(last), queued: null };
    return { done: this.#orReport(done), queued };
  }

  /** Closes the journal. Resolves to the problem with the run's files, or null. */
  close(): Promise<string | null> {
    return this.#options.journal.close().catch((error: unknown) => {
      if (error instanceof WfError) return `the end of this run may be lost: ${error.message}`;
      throw error;
    });
  }

  #note(event: StoredEvent): void {
    if (event.type === 'step.expanded') this.#results.set(event.step, event.seq);
    if (!endsAttempt(event)) return;
    this.#results.set(event.step, event.seq);
    if (hasOutputs(event)) this.#lastOutputs = event.seq;
  }

  #store(events: readonly RunEvent[]): { readonly stored: readonly StoredEvent[]; readonly failure: WfError | null } {
    const due = [...this.#unstored, ...events];
    try {
      const stored = this.#options.journal.append(due);
      this.#unstored = [];
      return { stored: stored.slice(-events.length), failure: null };
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      this.#unstored = due;
      this.#options.onFailure(error);
      return { stored: events.map(unnumbered), failure: error };
    }
  }

  #failEnd({ events, masked, failure }: UnstoredEnd): Recorded {
    const end = { status: 'failed', reason: 'storage', message: failure.message } as const;
    const fail = (event: RunEvent) => (event.type === 'run.finished' ? { ...event, ...end } : event);
    const [real, shown] = [events.map(fail), masked.map(fail)];
    this.#unstored = this.#unstored.map(fail);
    this.#state = real.reduce(evolve, this.#state);
    this.#shown = shown.reduce(evolve, this.#shown);
    return { events: real, stored: shown.map(unnumbered) };
  }

  #orReport(flushed: Promise<void>): Promise<void> {
    return flushed.catch((error: unknown) => {
      if (!(error instanceof WfError)) throw error;
      this.#options.onFailure(error);
    });
  }
}

function hasOutputs(event: Extract<RunEvent, { type: 'step.finished' | 'step.held' | 'step.waiting' }>): boolean {
  const outputs =
    event.type !== 'step.waiting' ? event.outputs : 'outputs' in event.outcome ? event.outcome.outputs : {};
  for (const _ in outputs) return true;
  return false;
}

function unnumbered(event: RunEvent): StoredEvent {
  return { ...event, seq: 0 };
}
