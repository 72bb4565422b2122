import { constants, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { addTo } from '#core/data/collections.ts';
import { crc32OfText } from '#fast/crc32.ts';
import { tryOr } from '#system/errors.ts';
import { closing, removeIfPossible } from '#system/files.ts';
import { makePrivateDirectory, openPrivate, writePrivate } from '../disk/private-files.ts';

/*
 * Caches in the directory of the runs: losing one, a line or a race costs only time. A line begins with the CRC-32 of its
 * rest. In files with groups, the rest is a head, a tab and the entries of that head: `1a2b3c4d failed<tab>ENTRY ENTRY`.
 */

/** Fails on a symbolic link, whatever its target. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Appends by one write. Throws the error of the disk. */
export function appendToCache(runsDir: string, name: string, content: string): void {
  closing(openPrivate(join(runsDir, name), appending), (fd) => writeSync(fd, content));
}

/** Replaces a cache atomically, without flushing it. Throws the error of the disk. */
export function replaceCache(runsDir: string, name: string, content: string): void {
  const drafts = join(runsDir, '.new');
  // Named as in `new-run.ts`, which removes the leftovers of dead processes.
  const draft = join(drafts, `${process.pid}__${name.replace('.', '_')}-${Math.random().toString(36).slice(2)}`);
  try {
    makePrivateDirectory(drafts);
    writePrivate(draft, content);
    renameSync(draft, join(runsDir, name));
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
}

/** Reads a cache; a missing or unreadable one is empty. */
export function readCache(runsDir: string, name: string, encoding: 'utf8' | 'latin1'): string {
  return tryOr('', () => readFileSync(join(runsDir, name), encoding));
}

/** A line of a text. */
export function withChecksum(text: string): string {
  return `${crc32OfText(text).toString(16).padStart(8, '0')} ${text}`;
}

/** The text of a line; null if it is damaged. */
export function checkedText(line: string): string | null {
  const text = line.slice(9);
  return text !== '' && Number.parseInt(line.slice(0, 8), 16) === crc32OfText(text) ? text : null;
}

/** One line for each head. */
export function encodeGroups(entries: Iterable<readonly [head: string, entry: string]>): string {
  const groups = new Map<string, string[]>();
  for (const [head, entry] of entries) addTo(groups, head, entry);
  return Array.from(groups, ([head, group]) => `${withChecksum(`${head}\t${group.join(' ')}`)}\n`).join('');
}

/** Calls `visit` for each line that is not damaged; returns the number of all lines. */
export function decodeGroups(content: string, visit: (head: string, entries: readonly string[]) => void): number {
  const lines = content.split('\n');
  for (const line of lines) {
    const text = checkedText(line);
    const end = text?.indexOf('\t') ?? -1;
    if (text !== null) visit(text.slice(0, end), text.slice(end + 1).split(' '));
  }
  return lines.length - 1;
}
