import type { Owner, ProcessIdentity } from '#core/run/run.ts';
import { hostName } from '#start-up/os.ts';
import { isOfThisPlace, processPlace } from './process-place.ts';
import { readProcess, readSelf } from './process-table.ts';

/**
 * The identity of a process, distinguishing it from later ones with the same number; null if there is no such process.
 * A zombie keeps its number. Without /proc of this namespace (macOS) the number is all there is: `startTime` is null.
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

/** The identity of a process of this namespace that runs or has just ended; without its start time if that cannot be read. */
export function identityFor(pid: number): ProcessIdentity {
  return identify(pid) ?? identityOf(pid, null);
}

/** The identity of a process of this namespace whose start time is known. */
export function identityOf(pid: number, startTime: number | null): ProcessIdentity {
  const { boot, namespace } = processPlace();
  return { pid, startTime, boot, namespace };
}

/** This process as the owner of runs. */
export function thisProcess(): Owner {
  return { ...identityFor(process.pid), host: hostName(), machine: processPlace().machine };
}

/** Whether exactly this process is running, as seen from here. A zombie is not. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!isOfThisPlace(identity)) return false;
  const { pid, startTime } = identity;
  const entry = readProcess(pid);
  if (entry !== null) return entry.startTime === startTime && !entry.isZombie;
  if (!processPlace().hasOwnProc) return pid === process.pid || (startTime === null && answers(pid));
  return startTime === null && processPlace().boot === null && answers(pid);
}

/** Processes of other namespaces or machines known to be gone, by other means than their number. */
const foundGone = new Set<string>();

/**
 * Whether /proc of this process cannot show if the other is running: it belongs to another namespace, boot or machine.
 */
export function isElsewhere(identity: ProcessIdentity): boolean {
  if (foundGone.has(keyOf(identity))) return false;
  return !isOfThisPlace(identity) || (!processPlace().hasOwnProc && identity.startTime !== null && !isAlive(identity));
}

/** Marks a process of another namespace or machine as gone. */
export function declareGone(identity: ProcessIdentity): void {
  // Without a start time a later process may have the same identity.
  if (identity.startTime !== null) foundGone.add(keyOf(identity));
}

/** False for a process that is certainly gone; true also for one that cannot be seen from here. */
export function mayBeAlive(identity: ProcessIdentity): boolean {
  return isElsewhere(identity) || isAlive(identity);
}

/**
 * Where to look for processes left by one that is gone: a namespace ends with its first process, and everything ends
 * with the boot.
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
