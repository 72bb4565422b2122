import type { RunArchive } from '../../store/store.ts';
import { readPastRun } from './past-run.ts';

/** Selects the surplus runs of a workflow. */
export type RetentionRule =
  /** By the file and the settings: runs older than `histRetentionDays`, or beyond the newest `keepRuns` (null: unlimited). */
  | { readonly type: 'settings'; readonly keepRuns: number | null }
  /** By options: runs older than `olderThanMs` and beyond the newest `keep`. Null: no limit. */
  | { readonly type: 'asked'; readonly keep: number | null; readonly olderThanMs: number | null };

/** Whether a run is surplus, by its position among the runs of its workflow (the newest is 0) and its age. */
export type IsTooMany = (place: number, ageMs: number) => boolean;

/** The default of `histRetentionDays`, for workflows of which no stored file is left. */
const usualDays = 30;
const dayMs = 86_400_000;

/** Returns the rule for the runs of one workflow, newest first. The last run is never surplus. */
export function retentionOf(ids: readonly string[], rule: RetentionRule, archive: RunArchive): IsTooMany {
  switch (rule.type) {
    case 'asked': {
      const { keep, olderThanMs } = rule;
      return (place, ageMs) =>
        place > 0 && (keep === null || place >= keep) && (olderThanMs === null || ageMs > olderThanMs);
    }
    case 'settings': {
      const days = retentionDays(ids, archive);
      // As in Dagu: no run is too old.
      const limitMs = days < 0 ? Number.POSITIVE_INFINITY : days * dayMs;
      const { keepRuns } = rule;
      return (place, ageMs) => place > 0 && (ageMs > limitMs || (keepRuns !== null && place >= keepRuns));
    }
  }
}

/** Returns the setting in the file of the last run. */
function retentionDays(ids: readonly string[], archive: RunArchive): number {
  for (const runId of ids) {
    const workflow = readPastRun(archive, runId)?.stored?.workflow;
    if (workflow !== undefined) return workflow.histRetentionDays;
  }
  return usualDays;
}
