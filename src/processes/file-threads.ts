import { access } from 'node:fs';

let hasFileThreads = false;

/**
 * Starts the threads with which Node reads files. Node starts them on first use and aborts silently at the process
 * limit; before the first program or thread there is room for them.
 */
export function startFileThreads(): void {
  if (hasFileThreads) return;
  hasFileThreads = true;
  access('/', () => {});
}
