import { signal } from '@preact/signals';

/** When the daemon answered last, in milliseconds since 1970-01-01 UTC. */
export const lastAnswerAt = signal(Date.now());

/** Whether the last request got no answer. */
export const isOffline = signal(false);

/** Whether the daemon has refused a request since then for the lack of a login. */
export const isSignedOut = signal(false);

/** Call after each answer of the daemon. */
export function connected(): void {
  lastAnswerAt.value = Date.now();
  isOffline.value = false;
}

/** Call when a request got no answer, or the stream of events broke off. */
export function disconnected(): void {
  isOffline.value = true;
}
