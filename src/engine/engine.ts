import type { CancelReason, Param, RestoredStep, StoredEvent, Trigger } from '../core/run/run.ts';
import type { RunState } from '../core/run/run-state.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import type { Workflow } from '../core/workflow.ts';
import type { Source } from '../language/diagnostic.ts';
import type { RunJournal } from '../store/store.ts';

/** Everything the engine needs to run a workflow. */
export type RunRequest = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
  /** As given by the caller: plain data, never evaluated. */
  readonly params: readonly Param[];
  readonly trigger: Trigger;
  readonly retryOf: string | null;
  readonly restored: readonly RestoredStep[];
  /** Files of the workflows that run this one as a sub-workflow, outermost first. */
  readonly ancestors: readonly string[];
  /** Failures that `continueOn.failure` tolerates still fail the run and its sub-workflows. */
  readonly strict?: boolean;
  /** Secrets of the parent run, shared with this one: a value that becomes secret in either is masked in both. */
  readonly family?: Secrets;
};

/** A run owned by this process. */
export type ActiveRun = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** The stored workflow has secrets masked, so a retry needs the original file. */
  readonly isMasked: boolean;
  /** Locates the logs of the run. */
  readonly journal: Pick<RunJournal, 'logPaths'>;
  readonly state: () => RunState;
  /** The unmasked state: never store or show it. */
  readonly result: () => RunState;
  readonly cancel: (request: { reason: CancelReason; message: string; force: boolean }) => void;
  /** Resolves once the last event is on disk (or could not be written) and every process has ended. */
  readonly finished: Promise<RunState>;
};

/** Called for every event after it was stored, in order, with the resulting state. */
export type RunWatcher = (event: StoredEvent, state: RunState) => void;

/** A run accepted earlier that this process has taken over. */
export type TakenRun = {
  readonly journal: RunJournal;
  /** The events in the journal so far. */
  readonly events: readonly StoredEvent[];
};

/** Carries a run from its first event to its last. */
export type Engine = {
  /** Starts an accepted run; the watcher also gets the events stored before. */
  readonly carry: (request: RunRequest, taken: TakenRun, watcher: RunWatcher) => ActiveRun;
  /** Stores and starts the run. Throws a `WfError` (`run-exists`, `storage`) before anything has started. */
  readonly start: (request: RunRequest, watcher: RunWatcher) => ActiveRun;
};
