import { closeSync, constants, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32OfText } from '#start-up/crc32.ts';
import { openPrivate } from '../disk/private-files.ts';
import { mayHideChange } from './run-time.ts';

/** Up to this number of entries, the directory itself is read as fast as a file. */
const manyRuns = 1000;
/** A listing that becomes stale sooner than this is not worth writing. */
const rewriteMs = 5000;

/**
 * The ids of all runs, as `list` reads them from the directory, cached in `<runs>/.listing`: the directory is read
 * only if it has changed since. Every added or removed entry updates the directory's change time, which no program can
 * set.
 */
export function listingOf(runsDir: string, list: () => readonly string[]): readonly string[] {
  const stamp = stampOf(runsDir);
  const written = stamp === null ? null : readListing(runsDir, stamp.text);
  if (written !== null) return written;
  const ids = list();
  const isSettled = stamp !== null && !mayHideChange(stamp.changedAt, Date.now());
  if (isSettled && ids.length >= manyRuns && stampOf(runsDir)?.text === stamp.text)
    writeListing(runsDir, stamp.text, ids);
  return ids;
}

type Stamp = { readonly text: string; readonly changedAt: number };

function stampOf(runsDir: string): Stamp | null {
  const stats = statSync(runsDir, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return null;
  return { text: `${stats.dev}.${stats.ino}.${stats.ctimeNs}`, changedAt: Number(stats.ctimeMs) };
}

/** Null if it belongs to another state of the directory, or is damaged. */
function readListing(runsDir: string, stamp: string): readonly string[] | null {
  try {
    const text = readFileSync(listingPath(runsDir), 'latin1');
    if (!text.startsWith(`${stamp} `, 9) || Number.parseInt(text.slice(0, 8), 16) !== crc32OfText(text.slice(9))) {
      return null;
    }
    return text.slice(9 + stamp.length + 1).split(' ');
  } catch {
    return null;
  }
}

/**
 * Overwritten in place, since a rename, like its creation, would change the directory; after its creation it stays
 * empty. Two simultaneous writers damage it, and the next one writes it again.
 */
function writeListing(runsDir: string, stamp: string, ids: readonly string[]): void {
  const path = listingPath(runsDir);
  try {
    const before = statSync(path, { throwIfNoEntry: false });
    if (before === undefined) closeSync(openPrivate(path, 'a'));
    if (before === undefined || (before.size > 0 && Math.abs(Date.now() - before.mtimeMs) < rewriteMs)) return;
    const text = `${stamp} ${ids.join(' ')}`;
    overwrite(path, `${crc32OfText(text).toString(16).padStart(8, '0')} ${text}`);
  } catch {
    // The next caller reads the directory, too.
  }
}

function overwrite(path: string, text: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
  try {
    writeFileSync(fd, text, 'latin1');
  } finally {
    closeSync(fd);
  }
}

function listingPath(runsDir: string): string {
  return join(runsDir, '.listing');
}
