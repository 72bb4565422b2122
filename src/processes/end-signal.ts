import type { Outcome } from '#core/run/run.ts';

/** Why an attempt is asked to end; `unready`: a service that is not ready in time. */
export type EndRequest = 'stop' | 'timeout' | 'unready';

/** Requests an end, once. A cheap AbortSignal: a real one costs more than everything else about the end of a step. */
export class EndSignal {
  #reason: EndRequest | null = null;
  #abortSignal: AbortSignal | null = null;
  readonly #reactions = new Set<() => void>();

  /** The reason; null until an end is requested. */
  get reason(): EndRequest | null {
    return this.#reason;
  }

  get aborted(): boolean {
    return this.#reason !== null;
  }

  abort(reason: EndRequest): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    for (const react of this.#reactions) react();
    this.#reactions.clear();
  }

  /** Calls back when an end is requested, at once if it already was; returns a function that unsubscribes. */
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

/** The two signals of an attempt: end soon, end now. */
export type AttemptSignals = { readonly signal: EndSignal; readonly kill: EndSignal };

/** The outcome of a step that was asked to end before its work started. */
export const canceled: Outcome = { status: 'canceled', message: '', exitCode: null, signal: null };

/** Whether the attempt was asked to end, softly or hard. */
export function isAskedToEnd({ signal, kill }: AttemptSignals): boolean {
  return signal.aborted || kill.aborted;
}

/** Calls back when the attempt is asked to end, softly or hard; returns a function that unsubscribes. */
export function onEnd({ signal, kill }: AttemptSignals, end: () => void, endNow = end): () => void {
  const releases = [signal.onAbort(end), kill.onAbort(endNow)];
  return () => {
    for (const release of releases) release();
  };
}

/** For requests to be cancelled when the attempt is asked to end, softly or hard. */
export function eitherEnd({ signal, kill }: AttemptSignals): AbortSignal {
  return AbortSignal.any([signal.toAbortSignal(), kill.toAbortSignal()]);
}
