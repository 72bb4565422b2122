import type { Param, RunStatus, StoredEvent } from '#core/run/run.ts';
import type { RunHead } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { LogStream } from '#store/logs.ts';
import type { Suspensions } from '#store/store.ts';
import type { FilePiece } from '#system/file-pieces.ts';
import type { AskedBackfill, BackfillView, Rerun } from './backfill.ts';
import type { PastRun } from './history/past-run.ts';
import type { CheckResult } from './workflows/load-workflow.ts';
import type { WorkflowEditor } from './workflows/workflow-editor.ts';
import type { ListedWorkflow } from './workflows/workflows.ts';

/** The workflows of a daemon, which it keeps in its memory, for the routes of its server. */
export type ServedWorkflows = WorkflowEditor & {
  /** Returns every workflow, invalid ones too, in the order of their paths. The list is the same object until `version` changes. */
  readonly list: () => readonly ListedWorkflow[];
  /** Returns a number that changes with `list`, for caches of values derived from it. */
  readonly version: () => number;
  /**
   * Returns the workflow of a name: its file's base name, with or without extension, and with `group/` before it if the
   * name is ambiguous (`/name`: in no group). Throws a `WfError`: `not-found`, `conflict` if several match.
   */
  readonly get: (name: string) => ListedWorkflow;
  /** Returns whether a workflow, or several, have the name. */
  readonly has: (name: string) => boolean;
  /** Looks for a workflow file that was written just now, unless the name is known. */
  readonly seek: (name: string) => Promise<void>;
  /** Returns the shortest unambiguous name, with extension. */
  readonly nameOf: (workflow: ListedWorkflow) => string;
  /**
   * Checks the text of a workflow; imports are resolved only within the workflows directory. `beside`: the file whose
   * directory they are relative to; null: the workflows directory.
   */
  readonly check: (text: string, beside: string | null) => Promise<CheckResult>;
  readonly suspend: Suspensions['set'];
  readonly suspendedUntil: Suspensions['suspendedUntil'];
  /** Returns a text that changes with the suspended files. */
  readonly suspensionStamp: () => string;
  /** Returns the next scheduled start of a workflow; null: none. */
  readonly nextOf: (workflow: ListedWorkflow) => Date | null;
  /** Returns the next scheduled starts of a workflow in order, `count` at most. */
  readonly startsOf: (workflow: ListedWorkflow, count: number) => readonly Date[];
  /** Returns each expression of a workflow's schedule in words; null for an invalid file, or without a scheduler. */
  readonly scheduleWordsOf: (
    workflow: ListedWorkflow,
  ) => Record<'start' | 'stop' | 'restart', readonly string[]> | null;
  /** Masks the secrets in a workflow. */
  readonly shown: (workflow: Workflow) => Workflow;
  /** Masks the secrets in the text of a workflow file. */
  readonly shownText: (text: string, workflow: Workflow) => string;
};

/** The runs of a daemon as of its last check, for the routes of its server. */
export type ServedRuns = {
  /** Checks for changes, at most some times a second. Reads only new and changed runs. */
  readonly refresh: () => Promise<void>;
  /** Makes the next `refresh` check in any case. `runId`: a finished run that was changed. */
  readonly touch: (runId?: string) => void;
  /** Returns a number that changes with the results of `lastRunOf` and `activeOf`. */
  readonly version: () => number;
  /** Returns the newest run of a workflow, by the absolute path of its file. */
  readonly lastRunOf: (file: string) => RunHead | null;
  /** Returns the unfinished runs of a workflow, queued ones too, newest first. */
  readonly activeOf: (file: string) => readonly RunHead[];
  /** Returns the ids of the last `most` runs of a workflow, newest first; of all without `most`. */
  readonly runIdsOf: (file: string, most?: number) => readonly string[];
  /** Whether a workflow has a run with this id. */
  readonly isRunOf: (file: string, runId: string) => boolean;
  /** Returns one run as of the last check, or reads it now if checks skip it; null if it was removed. */
  readonly headOf: (runId: string) => RunHead | null;
  readonly recent: {
    /** Returns the last runs, newest first; null if `read` has not reached the workflow yet. */
    readonly of: (file: string) => readonly RecentRun[] | null;
    /** Reads the last runs of these workflows, or begins to, if there are many. */
    readonly read: (files: readonly string[]) => Promise<void>;
  };
};

/** The data of a past run for a row of ticks. */
export type RecentRun = { readonly runId: string; readonly status: RunStatus; readonly durationMs: number | null };

/** The events of runs for any number of followers; followers of one run share one reader of its journal. */
export type RunFeeds = {
  /**
   * Yields batches of a run's events after the first `afterSeq`: stored events and then new ones, at the pace of the
   * follower. Ends after the last event of the run, or when the signal is aborted. An event whose `seq` is not higher
   * than that of its predecessor replaces all events from that `seq`.
   */
  readonly follow: (run: PastRun, afterSeq: number, signal: AbortSignal) => AsyncIterable<readonly StoredEvent[]>;
};

/** A log of an attempt that a worker sends. */
export type SentLog = {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: LogStream;
  readonly worker: string;
};

/**
 * Stores a piece of a log of an engine's run; resolves to the bytes of the log that are stored. Rejects with a `WfError`:
 * `not-found`, or `conflict` if the worker may not store it now; and with system errors.
 */
export type LogReceiver = (log: SentLog, piece: FilePiece) => Promise<number>;

/** The subject of a change; the reader requests its present state. */
export type Change =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'workflow'; readonly file: string }
  | { readonly kind: 'daemon' | 'queue' | 'schedule' };

/** The variable state of the daemon. */
export type DaemonStatus = {
  readonly version: string;
  readonly running: number;
  readonly queued: number;
  readonly awaitingApproval: number;
};

/**
 * The changes of all runs and workflows, for any number of readers, each at its own pace: a reader keeps a position, and
 * the log keeps later changes. Without readers, nothing is checked.
 */
export type LiveChanges = {
  /** Identifies this process; positions of another daemon, or from before a restart, are invalid. */
  readonly epoch: string;
  readonly position: () => number;
  /** Returns the changes after a position; null: the position is unknown or too old. */
  readonly since: (position: number) => readonly NumberedChange<Change>[] | null;
  /** Adds a reader and resolves after the first check. An attended run is checked even after it has finished. */
  readonly join: (wake: () => void, attended: AttendedRun | null) => Promise<() => void>;
  readonly daemon: () => DaemonStatus;
};

/** A run that a reader shows in detail; `look` is called after each of its changes. */
export type AttendedRun = { readonly runId: string; readonly look: () => void };

/** A change and its number. */
export type NumberedChange<Change> = { readonly position: number; readonly change: Change };

/** A request for a backfill of a workflow of a daemon. */
export type BackfillRequest = AskedBackfill & {
  readonly max: number;
  readonly rerun: Rerun;
  /** Literal data, never evaluated. */
  readonly params: readonly Param[];
};

/** The backfills of a daemon. */
export type ServedBackfills = {
  /** Returns what a backfill would do. Throws as `begin`, except `busy` and `storage`. */
  readonly plan: (workflow: Workflow, request: BackfillRequest) => Promise<BackfillView>;
  /**
   * Stores a backfill and begins it; resolves when it cannot be lost. An unfinished one with the same id stays as it is.
   * Throws a `WfError`: `usage`, `invalid-params`, `busy`, `storage`.
   */
  readonly begin: (workflow: Workflow, request: BackfillRequest) => Promise<BackfillView>;
  /** Throws a `WfError` `not-found`. */
  readonly find: (id: string) => Promise<BackfillView>;
  /** Starts no more runs of a backfill; those that run continue. Throws a `WfError`: `not-found`, `storage`. */
  readonly stop: (id: string) => Promise<BackfillView>;
};
