import type { Graph } from '../../core/graph.ts';
import type { AttemptRecord } from '../../core/run/attempt-history.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Workflow } from '../../core/workflow.ts';
import type { Place, Source } from '../../language/diagnostic.ts';
import type { ShownLog } from './log/log.ts';

/** What a report shows: one run at one moment. */
export type ReportView = {
  readonly summary: RunSummary;
  readonly run: RunState;
  /** Null, as `graph` is, when what the run was made from is lost. */
  readonly workflow: Workflow | null;
  readonly graph: Graph | null;
  /** By step. */
  readonly attempts: ReadonlyMap<string, readonly AttemptRecord[]>;
  /** The positions of steps in the sources. */
  readonly places: ReadonlyMap<string, Place>;
  readonly sources: readonly Source[];
  readonly logs: ReportLogs;
  /** The runs of other workflows that failed steps were carried out by, as far as they are in the history, by step. */
  readonly children: ReadonlyMap<string, ChildView>;
  /** Present: the stored workflow has masks in the place of secrets, so that a retry needs the file. */
  readonly masked?: true;
  /** When the report is made, in milliseconds since 1970-01-01 UTC. */
  readonly now: number;
  /** The version of this program. */
  readonly version: string;
};

/** What a report shows of a run that a step carried out. */
export type ChildView = Pick<ReportView, 'summary' | 'logs' | 'children'>;

/** One of the two streams of an attempt. */
export type LogName = { readonly step: string; readonly attempt: number; readonly stream: 'stdout' | 'stderr' };

/** Where a report reads the logs, one after another. */
export type ReportLogs = {
  /** In bytes; 0 where there is none. */
  readonly size: (log: LogName) => number;
  readonly read: (log: LogName, size: { readonly head: number; readonly tail: number }) => ShownLog;
};

/** What the page is made with besides the run. */
export type ReportAssets = {
  readonly css: string;
  readonly js: string;
  /** Of the script: its SHA-256 in base64. */
  readonly scriptHash: string;
};
