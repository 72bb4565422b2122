import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../../core/run.ts';
import { identify, isAlive } from '../process-identity.ts';

/**
 * Who answers for a container: a process, and where its number means anything. Many machines, users and containers (each
 * with processes of their own) may use one daemon.
 */
type ContainerOwner = ProcessIdentity & {
  readonly machine: string;
  readonly pidNamespace: string | null;
  readonly uid: number | null;
};

/** This process as the text of a container's label. */
export function ownerLabel(): string {
  const identity = identify(process.pid) ?? { pid: process.pid, startTime: null, boot: null };
  return JSON.stringify({ ...identity, ...place() } satisfies ContainerOwner);
}

/**
 * Is the process that such a label names gone for certain? Only one of this machine and this user can be: another user's
 * may be hidden from us. A process of an earlier boot is gone, one in another namespace of this boot cannot be seen.
 */
export function isOwnerGone(label: string): boolean {
  const owner = parseOwner(label);
  const here = place();
  if (owner === null || owner.machine !== here.machine || owner.uid !== here.uid) return false;
  const isThisBoot = owner.boot === identify(process.pid)?.boot;
  return (!isThisBoot || owner.pidNamespace === here.pidNamespace) && !isAlive(owner);
}

function place(): Omit<ContainerOwner, keyof ProcessIdentity> {
  return { machine: machineId(), pidNamespace: pidNamespace(), uid: process.getuid?.() ?? null };
}

function parseOwner(label: string): ContainerOwner | null {
  try {
    const owner = JSON.parse(label) as ContainerOwner | null;
    return typeof owner?.pid === 'number' ? owner : null;
  } catch {
    return null;
  }
}

/** The name alone is not enough ("localhost"), and the machine's id should not leave it as it is (machine-id(5)). */
function machineId(): string {
  const id = orNull(() => readFileSync('/etc/machine-id', 'latin1').trim()) ?? '';
  return createHash('sha256').update(`${hostname()}\n${id}`).digest('hex').slice(0, 16);
}

function pidNamespace(): string | null {
  return orNull(() => readlinkSync('/proc/self/ns/pid'));
}

function orNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
