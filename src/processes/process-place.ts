import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../core/run/run.ts';

/** Where the numbers of processes mean what they mean to this process. */
export type ProcessPlace = {
  /** The id of this boot of the kernel; null where the system does not tell. */
  readonly boot: string | null;
  /** The namespaces of process numbers and of the clock that start times are read from; null where there are none. */
  readonly namespace: string | null;
  /**
   * A digest of the host's name and machine-id(5), the same after a reboot; null in a container, where many have the ids that
   * are in their image.
   */
  readonly machine: string | null;
  /** Whether /proc shows the processes of this namespace. `unshare --pid` without `--mount-proc` leaves it another's. */
  readonly hasOwnProc: boolean;
};

let known: ProcessPlace | null = null;

/** The place of this process. Read once. */
export function processPlace(): ProcessPlace {
  known ??= readPlace();
  return known;
}

/** Whether a process was recorded in the place of this process, so that its number can be looked up here. */
export function isOfThisPlace({ boot, namespace, machine }: ProcessIdentity & { machine?: string | null }): boolean {
  const here = processPlace();
  if (boot !== here.boot || namespace !== here.namespace) return false;
  return boot !== null || machine === undefined || machine === here.machine;
}

/** Whether a process that /proc shows has its number from the namespace of this process, as far as that may be known. */
export function isInThisNamespace(pid: number): boolean {
  const theirs = read(() => readlinkSync(`/proc/${pid}/ns/pid`));
  return theirs === null || theirs === read(() => readlinkSync('/proc/self/ns/pid'));
}

function readPlace(): ProcessPlace {
  const boot = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
  const pids = read(() => readlinkSync('/proc/self/ns/pid'));
  const self = read(() => readlinkSync('/proc/self'));
  return {
    boot,
    namespace:
      pids === null ? null : [pids, read(() => readlinkSync('/proc/self/ns/time')) ?? ''].map(digits).join('.'),
    machine: boot === null || pids === firstPidNamespace ? machineDigest() : null,
    hasOwnProc: self === null || self === String(process.pid),
  };
}

/** The kernel gives the first namespace of a boot, which no container has, this number (`PROC_PID_INIT_INO`). */
const firstPidNamespace = 'pid:[4026531836]';

function digits(link: string): string {
  return link.replace(/\D/g, '');
}

/** FNV-1a in 32 bits: machine-id(5) asks not to pass the id itself on, and to load `node:crypto` takes 2 ms. */
function machineDigest(): string {
  const text = `${hostname()}\n${read(() => readFileSync('/etc/machine-id', 'latin1').trim()) ?? ''}`;
  let digest = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) digest = Math.imul(digest ^ text.charCodeAt(index), 0x01000193);
  return (digest >>> 0).toString(16).padStart(8, '0');
}

function read(from: () => string): string | null {
  try {
    return from();
  } catch {
    return null;
  }
}
