import type { FinishedStatus, SettledStatus } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { Step, Template, Workflow } from '../../core/workflow.ts';
import type { RunJournal } from '../../store/store.ts';
import type { Clock } from '../clock.ts';

/** Something that somebody outside may want to be told of: a step has settled, or the run is over. Both are stored. */
export type Notice = {
  /** The step or handler that has settled; null when the run is over. */
  readonly step: Step | null;
  /** How it ended. */
  readonly status: SettledStatus | FinishedStatus;
  /** Without secrets. */
  readonly state: RunState;
  readonly workflow: Workflow;
  /** The stored workflow has masks in the place of secrets, so that a retry needs the file. */
  readonly isMasked: boolean;
  /** Replaces variables, as they are at the moment of the notice. */
  readonly expand: (text: Template) => string;
  readonly logPaths: RunJournal['logPaths'];
  /** Aborted, with a line that says why, when the run does not wait any longer. */
  readonly signal: AbortSignal;
};

/**
 * Tells somebody, by mail for example. Null when nobody wants to know; else it resolves soon after `signal` to what could
 * not be told, as lines for a person. What becomes of it changes no outcome.
 */
export type Notify = (notice: Notice) => Promise<readonly string[]> | null;

/** The longest that a run which is over waits for its notices. */
const patienceMs = 30_000;

/** The notices of one run that are on their way. */
export class Notices {
  readonly #notify: Notify;
  readonly #warn: (step: string | null, message: string) => void;
  readonly #end = new AbortController();
  readonly #pending = new Set<Promise<void>>();

  constructor(notify: Notify, warn: (step: string | null, message: string) => void) {
    this.#notify = notify;
    this.#warn = warn;
  }

  get arePending(): boolean {
    return this.#pending.size > 0;
  }

  /** Resolves when it is told or given up. */
  tell(notice: Omit<Notice, 'signal'>): Promise<void> {
    const telling = this.#notify({ ...notice, signal: this.#end.signal });
    if (telling === null) return Promise.resolve();
    const pending = this.#warnOf(notice, telling).finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    return pending;
  }

  async #warnOf({ step }: Omit<Notice, 'signal'>, telling: Promise<readonly string[]>): Promise<void> {
    for (const problem of await telling) this.#warn(step?.name ?? null, problem);
  }

  /** Resolves when all have been told or given up, which they are after a while. */
  async settled(clock: Clock): Promise<void> {
    const message = `given up after ${patienceMs / 1000}s`;
    const cancel = clock.setTimer(clock.now() + patienceMs, () => this.abandon(message));
    try {
      await Promise.allSettled(this.#pending);
    } finally {
      cancel();
    }
  }

  abandon(why: string): void {
    this.#end.abort(why);
  }
}
