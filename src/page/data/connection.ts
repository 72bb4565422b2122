import { effect, signal, untracked } from '@preact/signals';

/** Time of the last response of the daemon, in milliseconds since 1970-01-01 UTC. */
export const lastAnswerAt = signal(Date.now());

/** Whether the last request got no response. */
export const isOffline = signal(false);

/** Whether the daemon has refused a request for want of a login since then. */
export const isSignedOut = signal(false);

/** The interval between requests while the daemon does not respond, in milliseconds. */
const RETRY_MS = 2000;
/** The daemon is asked on another connection after this time: a browser does not notice that one has died. */
const TIMEOUT_MS = 5000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Call after each response of the daemon. */
export function connected(): void {
  clearTimeout(timer);
  timer = undefined;
  lastAnswerAt.value = Date.now();
  isOffline.value = false;
}

/** Call when a request got no response, or the event stream broke off. Until the daemon responds it is asked repeatedly. */
export function disconnected(): void {
  isOffline.value = true;
  timer ??= setTimeout(() => {
    timer = undefined;
    void checkConnection();
  }, RETRY_MS);
}

/** Asks the daemon whether it responds. */
export async function checkConnection(): Promise<void> {
  const begunAt = Date.now();
  try {
    await fetch(new URL('health', document.baseURI), {
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    connected();
  } catch {
    // Another request may have got a response meanwhile.
    if (lastAnswerAt.peek() < begunAt) disconnected();
  }
}

/** Calls `act` when the daemon answers again or the user has logged in again, until the returned function is called. */
export function onReconnection(act: () => void): () => void {
  let wasConnected = true;
  return effect(() => {
    const isConnected = !isOffline.value && !isSignedOut.value;
    if (isConnected && !wasConnected) untracked(act);
    wasConnected = isConnected;
  });
}
