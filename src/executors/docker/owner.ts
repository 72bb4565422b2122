import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../../core/run/run.ts';
import { identify, identityOf, mayBeAlive } from '../../processes/process-identity.ts';
import { processPlace } from '../../processes/process-place.ts';

/**
 * Who answers for a container: a process, and where its number means anything. Many machines, users and containers (each
 * with processes of their own) may use one daemon.
 */
type ContainerOwner = ProcessIdentity & { readonly machine: string; readonly uid: number | null };

/** The label that names the owner of a container, or of the record of a command in another one. */
export const ownerKey = 'wf.owner';

/** This process as the text of a label. */
export function ownerLabel(): string {
  const identity = identify(process.pid) ?? identityOf(process.pid, null);
  return JSON.stringify({ ...identity, machine: machineId(), uid: userId() } satisfies ContainerOwner);
}

/**
 * Is the process that such a label names gone for certain? Only one of this machine and this user can be: another user's
 * may be hidden from us. A process of an earlier boot is gone, one in another namespace of this boot cannot be seen.
 */
export function isOwnerGone(label: string): boolean {
  const owner = parseOwner(label);
  if (owner === null || owner.machine !== machineId() || owner.uid !== userId()) return false;
  const { machine: _, ...identity } = owner;
  return owner.boot !== processPlace().boot || !mayBeAlive(identity);
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
  const id = readOrEmpty('/etc/machine-id').trim();
  return createHash('sha256').update(`${hostname()}\n${id}`).digest('hex').slice(0, 16);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function userId(): number | null {
  return process.getuid?.() ?? null;
}
