import { access } from 'node:fs';

let isMade = false;

/**
 * Makes the threads in which Node reads files. Node makes them with the first such call and aborts without a word where the
 * limit of processes is reached; before the first program is started there is room for them.
 */
export function makeThreadPool(): void {
  if (isMade) return;
  isMade = true;
  access('/', () => {});
}
