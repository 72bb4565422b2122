import type { Clock } from '../clock.ts';
import type { Notice, Notify } from '../engine.ts';

/** Longest time that a finished run waits for its notifications. */
const notifyTimeoutMs = 30_000;

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
  send(notice: Omit<Notice, 'signal'>): Promise<void> {
    const sending = this.#notify({ ...notice, signal: this.#end.signal });
    if (sending === null) return Promise.resolve();
    const pending = this.#warnOf(notice, sending).finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    return pending;
  }

  async #warnOf({ step }: Omit<Notice, 'signal'>, sending: Promise<readonly string[]>): Promise<void> {
    for (const problem of await sending) this.#warn(step?.name ?? null, problem);
  }

  /** Resolves when all notifications are sent, or abandoned after the time limit. */
  async settled(clock: Clock): Promise<void> {
    const message = `gave up after ${notifyTimeoutMs / 1000}s`;
    const cancel = clock.setTimer(clock.now() + notifyTimeoutMs, () => this.abandon(message));
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
