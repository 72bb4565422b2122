import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { RunMark } from '#engine/engine.ts';
import { identityOf } from './process-identity.ts';
import { isInThisNamespace } from './process-place.ts';
import { type ProcessEntry, readEnvironment } from './process-table.ts';

/** The roots and their descendants; never this process, its ancestors, or zombies. */
export function withDescendants(
  entries: readonly ProcessEntry[],
  roots: Iterable<ProcessEntry>,
): readonly ProcessEntry[] {
  const children = groupBy(entries, ({ parent }) => parent);
  const spared = selfAndAncestors(entries);
  const found = new Set<ProcessEntry>();
  const add = (entry: ProcessEntry) => {
    if (!spared.has(entry.pid)) found.add(entry);
  };
  for (const root of roots) add(root);
  // A set is iterated in insertion order, including entries added on the way.
  for (const entry of found) for (const child of children.get(entry.pid) ?? []) add(child);
  return [...found].filter(({ isZombie }) => !isZombie);
}

/** Groups processes by a field: parent, session. */
export function groupBy(
  entries: readonly ProcessEntry[],
  key: (entry: ProcessEntry) => number,
): ReadonlyMap<number, readonly ProcessEntry[]> {
  const groups = new Map<number, ProcessEntry[]>();
  for (const entry of entries) {
    const group = groups.get(key(entry));
    if (group === undefined) groups.set(key(entry), [entry]);
    else group.push(entry);
  }
  return groups;
}

/** The identities of processes. */
export function toIdentities(entries: readonly ProcessEntry[]): ProcessIdentity[] {
  return entries.map(({ pid, startTime }) => identityOf(pid, startTime));
}

/** Processes with the run's mark in their environment, and the step named there, by process number. */
export function findMarked(entries: readonly ProcessEntry[], { runId, logs }: RunMark): ReadonlyMap<number, string> {
  const mark = Buffer.from(`\0WF_RUN_ID=${runId}\0`);
  const marked = new Map<number, string>();
  for (const { pid, hasMemory } of entries) {
    const environment = hasMemory ? readEnvironment(pid) : null;
    if (!environment?.includes(mark)) continue;
    const log = variableOf(environment, 'WF_LOG_FILE');
    const step = variableOf(environment, 'WF_STEP');
    if ((log === '' || dirname(log) === logs) && isOfThisHome(pid, logs)) marked.set(pid, step);
  }
  return marked;
}

/**
 * Whether the logs directory named by a process is that of the run: a container may have another home at the same path
 * while its processes are visible from outside.
 */
function isOfThisHome(pid: number, logs: string): boolean {
  if (isInThisNamespace(pid)) return true;
  const ours = statSync(logs, { throwIfNoEntry: false });
  const theirs = statOrNull(`/proc/${pid}/root${logs}`);
  return ours !== undefined && theirs !== null && ours.ino === theirs.ino && ours.dev === theirs.dev;
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function variableOf(environment: Buffer, name: string): string {
  const start = environment.indexOf(`\0${name}=`);
  if (start < 0) return '';
  const from = start + name.length + 2;
  return environment.toString('utf8', from, environment.indexOf(0, from));
}

function selfAndAncestors(entries: readonly ProcessEntry[]): ReadonlySet<number> {
  const parents = new Map(entries.map(({ pid, parent }) => [pid, parent]));
  const line = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && !line.has(pid); pid = parents.get(pid)) {
    line.add(pid);
  }
  return line;
}
