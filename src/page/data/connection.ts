import { signal } from '@preact/signals';

/** Time of the last response of the daemon, in milliseconds since 1970-01-01 UTC. */
export const lastAnswerAt = signal(Date.now());

/** Whether the last request got no response. */
export const isOffline = signal(false);

/** Whether the daemon has refused a request for want of a login since then. */
export const isSignedOut = signal(false);

/** Call after each response of the daemon. */
export function connected(): void {
  lastAnswerAt.value = Date.now();
  isOffline.value = false;
}

/** Call when a request got no response, or the event stream broke off. */
export function disconnected(): void {
  isOffline.value = true;
}
