import { effect, untracked } from '@preact/signals';
import { isOffline, isSignedOut } from './connection.ts';

/**
 * Calls `act` each time the daemon answers again or the user has logged in again, until the returned function is called.
 */
export function onReconnection(act: () => void): () => void {
  let wasConnected = true;
  return effect(() => {
    const isConnected = !isOffline.value && !isSignedOut.value;
    if (isConnected && !wasConnected) untracked(act);
    wasConnected = isConnected;
  });
}
