import { type Stats, statSync } from 'node:fs';
import { journalPath } from '../run-directory.ts';

/** A text that changes with each change of a run's journal. Null if there is no journal, or it cannot be examined. */
export function journalStamp(directory: string): string | null {
  try {
    const stats = statSync(journalPath(directory), { throwIfNoEntry: false });
    return stats === undefined ? null : stampOf(stats);
  } catch {
    return null;
  }
}

/** The stamp of a journal with this size and change time. */
export function stampOf({ size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>): string {
  return `${size}.${mtimeMs}`;
}
