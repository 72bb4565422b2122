import type { Outcome } from '../../core/run.ts';
import type { Attempt } from '../executor.ts';

/** What a step comes to that was asked to end before its work began. */
export const canceled: Outcome = { status: 'canceled', message: '', exitCode: null, signal: null };

/** Was the attempt asked to end, in whichever way? */
export function isAsked({ signal, kill }: Attempt): boolean {
  return signal.aborted || kill.aborted;
}

/** Calls back when a signal is aborted, at once when it is already; the result ends that. */
export function onAbort(signal: AbortSignal, react: () => void): () => void {
  if (signal.aborted) react();
  else signal.addEventListener('abort', react, { once: true });
  return () => signal.removeEventListener('abort', react);
}
