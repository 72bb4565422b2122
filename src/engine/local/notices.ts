import type { FinishedStatus, SettledStatus } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { Step, Template, Workflow } from '../../core/workflow.ts';
import type { RunJournal } from '../../store/store.ts';
import type { Clock } from '../clock.ts';

/** A stored event worth a notification: a step settled or the run finished. */
export type Notice = {
  /** The settled step or handler; null for the run. */
  readonly step: Step | null;
  /** The final status of the step or the run. */
  readonly status: SettledStatus | FinishedStatus;
  /** The masked state. */
  readonly state: RunState;
  readonly workflow: Workflow;
  /** The stored workflow has masks in the place of secrets, so that a retry needs the file. */
  readonly isMasked: boolean;
  /** Expands variables as of the time of the notice. */
  readonly expand: (text: Template) => string;
  readonly logPaths: RunJournal['logPaths'];
  /** Aborted, with a reason, when the run stops waiting. */
  readonly signal: AbortSignal;
};

/**
 * Sends a notification, for example by mail. Returns null if none is wanted; else resolves, soon after `signal` at the
 * latest, to the failures as lines for the user. Never changes an outcome.
 */
export type Notify = (notice: Notice) => Promise<readonly string[]> | null;

/** Longest time that a finished run waits for its notifications. */
const patienceMs = 30_000;

/** The pending notifications of one run. */
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

  /** Resolves when the notification is sent or abandoned. */
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

  /** Resolves when all notifications are sent, or abandoned after the time limit. */
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
