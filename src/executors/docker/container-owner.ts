import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '#core/run/run.ts';
import { identityFor, mayBeAlive } from '#processes/process-identity.ts';
import { processPlace } from '#processes/process-place.ts';

/**
 * The process responsible for a container, and the context of its number: many machines, users and containers (each
 * with its own process numbers) may share a daemon.
 */
type ContainerOwner = ProcessIdentity & { readonly machine: string; readonly uid: number | null };

/** Label with the owner of a container, or of the record of a command in another container. */
export const ownerKey = 'wf.owner';

/** This process as label text. */
export function ownerLabel(): string {
  const identity = identityFor(process.pid);
  return JSON.stringify({ ...identity, machine: machineId(), uid: userId() } satisfies ContainerOwner);
}

/**
 * Whether the process in a label is certainly gone. Only processes of this machine and user can be judged: those of
 * other users may be hidden. Processes of an earlier boot are gone; those in other namespaces of this boot are not
 * visible.
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

/** The host name alone is ambiguous ("localhost"), and machine-id(5) forbids exposing the id itself. */
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
