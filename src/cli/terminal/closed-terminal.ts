import { mayBeTerminal } from '#start-up/os.ts';

/**
 * Ends this process like the default action of SIGHUP if it may be on a terminal: a shell reports the exit code 129. Node
 * restores terminals when it exits, and aborts if one is closed.
 */
export function endByHangup(): void {
  if (!([0, 1, 2] as const).some(mayBeTerminal)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
