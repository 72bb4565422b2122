import type { ProcessIdentity } from '#core/run/run.ts';
import { isAlive } from './process-identity.ts';
import { isOfThisPlace } from './process-place.ts';

/** Polling intervals while waiting for processes to end, in milliseconds. */
const firstPauseMs = 4;
const maxPauseMs = 100;

/** Sends a signal if the process still has the same identity; to its group if the system cannot tell (macOS). */
export function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isOfThisPlace(target)) return;
  if (target.startTime === null) signalGroup(target.pid, signal);
  else if (isAlive(target)) trySignal(target.pid, signal);
}

/** Sends a signal to every member of a process group that may be signalled. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  trySignal(-group, signal);
}

/** Whether the process group has a member. */
export function groupAnswers(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Waits until all have ended, `limitMs` have passed or `cut` is aborted; true if all have ended. */
export async function areGone(
  processes: readonly ProcessIdentity[],
  limitMs: number,
  cut?: AbortSignal,
): Promise<boolean> {
  let left = processes.filter(isPresent);
  let pauseMs = firstPauseMs;
  for (let waitedMs = 0; left.length > 0 && waitedMs < limitMs && cut?.aborted !== true; waitedMs += pauseMs) {
    pauseMs = Math.min(pauseMs * 2, maxPauseMs, limitMs - waitedMs);
    await pause(pauseMs, cut);
    left = left.filter(isPresent);
  }
  return left.length === 0;
}

function isPresent(target: ProcessIdentity): boolean {
  if (!isOfThisPlace(target)) return false;
  return target.startTime === null ? groupAnswers(target.pid) : isAlive(target);
}

/** The timer keeps this process alive: nothing else may do so. */
async function pause(ms: number, cut: AbortSignal | undefined): Promise<void> {
  // Loaded on demand: most runs end nothing and start faster without it.
  const { setTimeout } = process.getBuiltinModule('node:timers/promises');
  try {
    await setTimeout(ms, undefined, cut === undefined ? {} : { signal: cut });
  } catch (error) {
    if (cut?.aborted !== true) throw error;
  }
}

function trySignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // The process has just ended or belongs to another user; nothing can be done in either case.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
