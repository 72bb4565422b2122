import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '#core/run/run.ts';
import { hostName } from '#start-up/os.ts';

/** The context in which process numbers are valid. */
export type ProcessPlace = {
  /** Id of the current boot of the kernel; null if unknown. */
  readonly boot: string | null;
  /** The PID and time namespaces, which process numbers and start times refer to; null if unknown. */
  readonly namespace: string | null;
  /**
   * A digest of the host's name and machine-id(5), the same after a reboot; null in a container, where many share the
   * ids of their image.
   */
  readonly machine: string | null;
  /** Whether /proc shows this namespace. `unshare --pid` without `--mount-proc` leaves another's in place. */
  readonly hasOwnProc: boolean;
};

let known: ProcessPlace | null = null;

/** The context of this process. Read once. */
export function processPlace(): ProcessPlace {
  known ??= readPlace();
  return known;
}

/** Whether a process was recorded in the context of this process, so that its number is valid here. */
export function isOfThisPlace({ boot, namespace, machine }: ProcessIdentity & { machine?: string | null }): boolean {
  const here = processPlace();
  if (boot !== here.boot || namespace !== here.namespace) return false;
  return boot !== null || machine === undefined || machine === here.machine;
}

/** Whether a process in /proc has its number in this PID namespace, as far as can be known. */
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

/** Inode of the initial PID namespace, which no container has (`PROC_PID_INIT_INO`). */
const firstPidNamespace = 'pid:[4026531836]';

function digits(link: string): string {
  return link.replace(/\D/g, '');
}

/** FNV-1a in 32 bits: machine-id(5) forbids exposing the id itself, and loading `node:crypto` takes 2 ms. */
function machineDigest(): string {
  const text = `${hostName()}\n${read(() => readFileSync('/etc/machine-id', 'latin1').trim()) ?? ''}`;
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
