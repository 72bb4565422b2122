import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { WatchPattern } from '#system/glob.ts';

/** The watched files: the named ones, and those that the patterns match outside the ignored files and directories. */
export type WatchTargets = {
  readonly files: readonly string[];
  readonly patterns: readonly WatchPattern[];
  readonly ignored: ReadonlySet<string>;
};

/** Files by absolute path, each with a text that changes with the file. */
export type FileTimes = ReadonlyMap<string, string>;
/** A snapshot and the scanned directories. */
export type Scan = { readonly snapshot: FileTimes; readonly directories: ReadonlySet<string> };

/** Directories of tools, whose frequent changes are irrelevant. */
const toolDirectories = new Set(['.git', 'node_modules']);

/** Scans all watched files. An unreadable file counts as missing. */
export function scan({ files, patterns, ignored }: WatchTargets): Scan {
  const snapshot = new Map<string, string>();
  const directories = new Set<string>();
  for (const file of files) addFile(file, snapshot);
  for (const pattern of patterns) walk(pattern.directory, { pattern, ignored, snapshot, directories });
  return { snapshot, directories };
}

/** Returns the changed, new and removed paths in order. */
export function changedPaths(before: FileTimes, after: FileTimes): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}

type Walk = {
  readonly pattern: WatchPattern;
  readonly ignored: ReadonlySet<string>;
  readonly snapshot: Map<string, string>;
  readonly directories: Set<string>;
};

function walk(directory: string, walking: Walk): void {
  const { pattern, ignored, snapshot, directories } = walking;
  if (ignored.has(directory)) return;
  const entries = entriesOf(directory);
  if (entries === null) {
    if (pattern.matches(directory)) addFile(directory, snapshot);
    return;
  }
  directories.add(directory);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    // Links are not followed into directories: they can form a loop.
    if (entry.isDirectory()) {
      if (pattern.isDeep && !toolDirectories.has(entry.name)) walk(path, walking);
    } else if (pattern.matches(path) && !ignored.has(path)) {
      addFile(path, snapshot);
    }
  }
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return null;
  }
}

function addFile(path: string, snapshot: Map<string, string>): void {
  try {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    snapshot.set(path, `${mtimeNs} ${size} ${ino}`);
  } catch {
    snapshot.delete(path);
  }
}
