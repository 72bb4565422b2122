import { hostname } from 'node:os';
import type { Owner, ProcessIdentity } from '../core/run/run.ts';
import { isOfThisPlace, processPlace } from './process-place.ts';
import { readProcess, readSelf } from './process-table.ts';

/**
 * What tells a process from any other that gets its number later; null when there is none. One that has ended has its
 * number until its parent notices. Without a /proc of this namespace (macOS) the number is all there is: `startTime` is null.
 */
export function identify(pid: number): ProcessIdentity | null {
  const entry = pid === process.pid ? readSelf() : readProcess(pid);
  if (entry !== null) return identityOf(pid, entry.startTime);
  return !processPlace().hasOwnProc || processPlace().boot === null
    ? answers(pid)
      ? identityOf(pid, null)
      : null
    : null;
}

/** The identity of a process of this place whose start time was read before. */
export function identityOf(pid: number, startTime: number | null): ProcessIdentity {
  const { boot, namespace } = processPlace();
  return { pid, startTime, boot, namespace };
}

/** This process as the owner of runs. */
export function thisProcess(): Owner {
  const identity = identify(process.pid) ?? identityOf(process.pid, null);
  return { ...identity, host: hostname(), machine: processPlace().machine };
}

/** Does this very process run, seen from here? One that has ended and is only not noticed yet (a zombie) does not. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!isOfThisPlace(identity)) return false;
  const { pid, startTime } = identity;
  const entry = readProcess(pid);
  if (entry !== null) return entry.startTime === startTime && !entry.isZombie;
  if (!processPlace().hasOwnProc) return pid === process.pid || (startTime === null && answers(pid));
  return startTime === null && processPlace().boot === null && answers(pid);
}

/** The processes of other places that were found gone, by other means than their number. */
const foundGone = new Set<string>();

/** Whether this process, with no more than /proc, cannot tell if that one runs: it is of another namespace, boot or machine. */
export function isElsewhere(identity: ProcessIdentity): boolean {
  if (foundGone.has(keyOf(identity))) return false;
  return !isOfThisPlace(identity) || (!processPlace().hasOwnProc && identity.startTime !== null && !isAlive(identity));
}

/** From now on the process of another place counts as gone. */
export function declareGone(identity: ProcessIdentity): void {
  // Without a start time another process may have the same identity later.
  if (identity.startTime !== null) foundGone.add(keyOf(identity));
}

/** False for a process that is gone for certain; true also for one that cannot be seen from here. */
export function mayBeAlive(identity: ProcessIdentity): boolean {
  return isElsewhere(identity) || isAlive(identity);
}

/**
 * Where the processes are that one which is gone may have left: a namespace ends with its first process, and everything with the
 * boot.
 */
export function leftBy(identity: ProcessIdentity): 'here' | 'elsewhere' | 'none' {
  if (isOfThisPlace(identity)) return 'here';
  return identity.boot !== processPlace().boot || identity.pid === 1 ? 'none' : 'elsewhere';
}

function keyOf({ pid, startTime, boot, namespace }: ProcessIdentity): string {
  return `${pid} ${startTime} ${boot} ${namespace}`;
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
