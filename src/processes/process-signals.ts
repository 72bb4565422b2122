import type { ProcessIdentity } from '../core/run/run.ts';
import { isAlive } from './process-identity.ts';
import { isOfThisPlace } from './process-place.ts';

/** The pauses between two looks at processes that are to end. */
const firstPauseMs = 4;
const longestPauseMs = 100;

/** Sends a signal if the process is still the one that is meant; where the system cannot tell (macOS), to its group. */
export function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isOfThisPlace(target)) return;
  if (target.startTime === null) signalGroup(target.pid, signal);
  else if (isAlive(target)) trySignal(target.pid, signal);
}

/** Sends a signal to every member of the group with this number, if there is one that may be signalled. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  trySignal(-group, signal);
}

/** Has the group with this number a member? */
export function groupAnswers(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Waits until all have ended, `limitMs` have passed or `cut` is aborted; true when all have ended. */
export async function areGone(
  processes: readonly ProcessIdentity[],
  limitMs: number,
  cut?: AbortSignal,
): Promise<boolean> {
  let left = processes.filter(isPresent);
  let pauseMs = firstPauseMs;
  for (let waitedMs = 0; left.length > 0 && waitedMs < limitMs && cut?.aborted !== true; waitedMs += pauseMs) {
    pauseMs = Math.min(pauseMs * 2, longestPauseMs, limitMs - waitedMs);
    await pause(pauseMs, cut);
    left = left.filter(isPresent);
  }
  return left.length === 0;
}

function isPresent(target: ProcessIdentity): boolean {
  if (!isOfThisPlace(target)) return false;
  return target.startTime === null ? groupAnswers(target.pid) : isAlive(target);
}

/** The timer keeps this process up: nothing else may be left to do it. */
async function pause(ms: number, cut: AbortSignal | undefined): Promise<void> {
  // Most runs end nothing, and start sooner without.
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
    // It has just ended, or belongs to another user: nothing that could be done about either.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
