import type { Outcome } from '../core/run/run.ts';

/** Why an attempt is asked to end. */
export type EndRequest = 'stop' | 'timeout';

/**
 * Asks for an end, once. What an AbortSignal is elsewhere; but that takes longer to make and to listen to than all else that
 * is done about the end of a step, so one is only made for interfaces that want it.
 */
export class EndSignal {
  #reason: EndRequest | null = null;
  #abortSignal: AbortSignal | null = null;
  readonly #reactions = new Set<() => void>();

  /** Why; null as long as nobody has asked. */
  get reason(): EndRequest | null {
    return this.#reason;
  }

  get aborted(): boolean {
    return this.#reason !== null;
  }

  /** Only the first reason counts. */
  abort(reason: EndRequest): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    for (const react of this.#reactions) react();
    this.#reactions.clear();
  }

  /** Calls back when an end is asked for, at once when it was already; the result takes that back. */
  onAbort(react: () => void): () => void {
    if (this.#reason !== null) {
      react();
      return () => {};
    }
    this.#reactions.add(react);
    return () => this.#reactions.delete(react);
  }

  toAbortSignal(): AbortSignal {
    if (this.#abortSignal === null) {
      const controller = new AbortController();
      this.onAbort(() => controller.abort(this.#reason));
      this.#abortSignal = controller.signal;
    }
    return this.#abortSignal;
  }
}

/** The two signals of one attempt: end soon, end now. */
export type AttemptSignals = { readonly signal: EndSignal; readonly kill: EndSignal };

/** What a step comes to that was asked to end before its work began. */
export const canceled: Outcome = { status: 'canceled', message: '', exitCode: null, signal: null };

/** Was the attempt asked to end, in whichever way? */
export function isAskedToEnd({ signal, kill }: AttemptSignals): boolean {
  return signal.aborted || kill.aborted;
}

/** For requests that are given up when the attempt is asked to end, in whichever way. */
export function eitherEnd({ signal, kill }: AttemptSignals): AbortSignal {
  return AbortSignal.any([signal.toAbortSignal(), kill.toAbortSignal()]);
}
