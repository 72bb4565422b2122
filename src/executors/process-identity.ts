import { readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../core/run.ts';
import { readProcess } from './process-table.ts';

let boot: string | null | undefined;

/** The id of this boot of the machine; null where the system does not tell. Read once. */
export function bootId(): string | null {
  if (boot === undefined) boot = readBootId();
  return boot;
}

/**
 * What tells a process from any other that gets its number later; null when there is none. One that has ended has its
 * number until its parent notices. Without /proc (macOS) the number is all there is: `startTime` and `boot` are null.
 */
export function identify(pid: number): ProcessIdentity | null {
  const entry = readProcess(pid);
  if (entry !== null) return { pid, startTime: entry.startTime, boot: bootId() };
  return bootId() === null && answers(pid) ? { pid, startTime: null, boot: null } : null;
}

/** Does this very process still run? One that has ended and is only not noticed yet (a zombie) does not. */
export function isAlive({ pid, startTime, boot: recordedBoot }: ProcessIdentity): boolean {
  const entry = readProcess(pid);
  if (entry === null) return startTime === null && bootId() === null && answers(pid);
  return entry.startTime === startTime && recordedBoot === bootId() && !entry.isZombie;
}

function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return null;
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
