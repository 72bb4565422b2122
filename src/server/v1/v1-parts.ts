import type { RunSummary } from '../../core/run/summary.ts';
import type { History } from '../../service/history/history.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import type { ServedRuns, ServedWorkflows } from '../../service/served.ts';
import type { RunActions } from '../../service/service.ts';

/** The dependencies of the v1 API. */
export type V1Parts = {
  readonly workflows: ServedWorkflows;
  readonly runIndex: ServedRuns;
  readonly history: Pick<History, 'read' | 'summarize'>;
  readonly runs: RunActions;
};

/** A run with the data of the v1 API. */
export type ShownRun = {
  readonly past: PastRun;
  readonly summary: RunSummary;
};
