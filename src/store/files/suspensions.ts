import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeFile } from '#system/files.ts';
import type { Suspensions } from '../store.ts';
import { durableText } from './disk/durable-text.ts';
import { readIfThere, storing } from './disk/private-files.ts';
import { mayHideChange } from './run-directory.ts';

/**
 * One file per suspended workflow, in a directory that is created with the first, so that processes need no agreement on who
 * writes, and no reader sees half a list. The name is a hash, since a path may be longer than a name; the file contains the
 * path, and in a second line the end, if there is one.
 */
export function createSuspensions(directory: string, now: () => number = Date.now): Suspensions {
  const markOf = (file: string) => join(directory, nameOf(file));
  const endOf = (file: string) => (existsSync(directory) ? readEnd(markOf(file)) : null);
  const set = (file: string, until: number | null) => {
    const path = markOf(file);
    if (until === null) storing('remove', path, () => removeFile(path));
    else durableText(path).write(Number.isFinite(until) ? `${file}\n${new Date(until).toISOString()}\n` : `${file}\n`);
  };
  return {
    endOf,
    suspendedUntil: (file) => {
      const end = endOf(file);
      return end === null || end <= now() ? null : end;
    },
    set,
    move: (from, to) => {
      const end = endOf(from);
      if (end === null) return;
      set(to, end);
      set(from, null);
    },
    stamp: createStamp(directory, now),
  };
}

/** Loaded here: if nothing was ever suspended, a look-up needs no hash. */
function nameOf(file: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(file).digest('hex');
}

/** Null without a suspension, which another process may just have removed. Without an end that can be read, it has none. */
function readEnd(path: string): number | null {
  const text = storing('read', path, () => readIfThere(path));
  if (text === null) return null;
  const [, end] = /\n([\d:.TZ-]+)\n$/.exec(text) ?? [];
  const at = Date.parse(end ?? '');
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
}

/** Never the same twice while a further change could leave the time of the directory unchanged. */
function createStamp(directory: string, now: () => number): () => string {
  let readAt: string | null = null;
  let ends: readonly number[] = [];
  return () => {
    const changedAt = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const stamp = mayHideChange(changedAt, Date.now()) ? `${changedAt}.${performance.now()}` : String(changedAt);
    if (stamp !== readAt && changedAt !== 0) {
      const marks = storing('read', directory, () => readdirSync(directory));
      ends = marks.flatMap((name) => readEnd(join(directory, name)) ?? []);
    }
    readAt = stamp;
    const time = now();
    return `${stamp} ${ends.filter((end) => end <= time).length}`;
  };
}
