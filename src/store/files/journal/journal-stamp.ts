import { type Stats, statSync } from 'node:fs';
import { journalPath } from '../run-directory.ts';

/** The attributes of a journal that change with each change of it. */
export type JournalStats = Pick<Stats, 'size' | 'mtimeMs'>;

/** A text that changes with each change of a run's journal. Null if there is no journal, or it cannot be examined. */
export function journalStamp(directory: string): string | null {
  const stats = journalStats(directory);
  return stats === null ? null : `${stats.size}.${stats.mtimeMs}`;
}

/** Null if there is no journal, or it cannot be examined. */
export function journalStats(directory: string): JournalStats | null {
  try {
    return statSync(journalPath(directory), { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
