import type { Clock } from '../../engine/clock.ts';
import type { CatalogEntry } from './catalog-entry.ts';
import type { Stamps } from './file-stamp.ts';

/** What is left for a later look, since somebody may be in the middle of writing it. */
export type Holds = {
  /** Whether the file, or what it imports, was written so lately that the rest may be to come. */
  readonly isBeingWritten: (file: string, entry: CatalogEntry | undefined, patience: Patience) => boolean;
  /** Whether the file may be gone only for the moment: some editors move the old one away before they write the new. */
  readonly isBeingReplaced: (file: string, settledMs: number) => boolean;
  readonly keepOnly: (files: readonly string[]) => void;
};

type Patience = { readonly stamps: Stamps; readonly settledMs: number };

/** A file that changes all the time is taken as it is, once it was held for so long. */
const longestMs = 1000;

/** Holds nothing yet. */
export function createHolds(clock: Pick<Clock, 'now'>): Holds {
  const heldSince = new Map<string, number>();
  const hold = (file: string, isYoung: (heldMs: number) => boolean): boolean => {
    const now = clock.now();
    const since = Math.min(heldSince.get(file) ?? now, now);
    const holds = isYoung(now - since);
    if (holds) heldSince.set(file, since);
    else heldSince.delete(file);
    return holds;
  };
  return {
    isBeingWritten: (file, entry, { stamps, settledMs }) =>
      hold(file, (heldMs) => {
        const times = (entry?.inputs ?? [file]).map((path) => stamps.of(path).changedAt ?? 0);
        // A time in the future is that of another machine's clock, and tells nothing.
        const age = clock.now() - Math.max(...times);
        return age >= 0 && age < settledMs && heldMs < longestMs;
      }),
    isBeingReplaced: (file, settledMs) => hold(file, (heldMs) => heldMs < settledMs),
    keepOnly: (files) => {
      const kept = new Set(files);
      for (const file of heldSince.keys()) if (!kept.has(file)) heldSince.delete(file);
    },
  };
}
