import type { RunArchive } from '../../store/store.ts';
import { readPastRun } from './past-run.ts';

/** Which runs of a workflow are too many. */
export type RetentionRule =
  /** Those that its file and the settings do not want kept: older than that, or beyond the newest `keepRuns` (null: any number). */
  | { readonly type: 'settings'; readonly keepRuns: number | null }
  /** Those that somebody asks for: older than that and beyond the newest `keep`. Null: that does not matter. */
  | { readonly type: 'asked'; readonly keep: number | null; readonly olderThanMs: number | null };

/** Tells whether a run is too many, by its place among the runs of its workflow, the newest being 0, and its age. */
export type IsTooMany = (place: number, ageMs: number) => boolean;

/** The default of `histRetentionDays`, for workflows whose runs have all lost what they were made from. */
const usualDays = 30;
const dayMs = 86_400_000;

/** The rule for the runs of one workflow, newest first. The last one is never too many. */
export function retentionOf(ids: readonly string[], rule: RetentionRule, archive: RunArchive): IsTooMany {
  switch (rule.type) {
    case 'asked': {
      const { keep, olderThanMs } = rule;
      return (place, ageMs) =>
        place > 0 && (keep === null || place >= keep) && (olderThanMs === null || ageMs > olderThanMs);
    }
    case 'settings': {
      const days = retentionDays(ids, archive);
      // As in Dagu: then no run is ever too old.
      const limitMs = days < 0 ? Number.POSITIVE_INFINITY : days * dayMs;
      const { keepRuns } = rule;
      return (place, ageMs) => place > 0 && (ageMs > limitMs || (keepRuns !== null && place >= keepRuns));
    }
  }
}

/** As the file said when the workflow last ran. */
function retentionDays(ids: readonly string[], archive: RunArchive): number {
  for (const runId of ids) {
    const workflow = readPastRun(archive, runId)?.stored?.workflow;
    if (workflow !== undefined) return workflow.histRetentionDays;
  }
  return usualDays;
}
