import type { CancelReason, Param, RestoredStep, StoredEvent, Trigger } from '../core/run/run.ts';
import type { RunState } from '../core/run/run-state.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import type { Workflow } from '../core/workflow.ts';
import type { Source } from '../language/diagnostic.ts';
import type { RunJournal } from '../store/store.ts';

/** A run to be made: what to run, with what, for whom. */
export type RunRequest = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
  /** As given by the caller: data, never evaluated. */
  readonly params: readonly Param[];
  readonly trigger: Trigger;
  readonly retryOf: string | null;
  readonly restored: readonly RestoredStep[];
  /** Files of the workflows that this one is a step of, outermost first. */
  readonly ancestors: readonly string[];
  /** Failures that `continueOn.failure` tolerates fail the run, and so do those of its sub-workflows. */
  readonly strict?: boolean;
  /** What the run that this one is a step of hides; whatever becomes secret here is then hidden there too. */
  readonly family?: Secrets;
};

/** A run that this process owns. */
export type ActiveRun = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** Its stored workflow has masks in the place of secrets, so that a retry needs the file. */
  readonly isMasked: boolean;
  /** Where the run's logs are. */
  readonly journal: Pick<RunJournal, 'logPaths'>;
  readonly state: () => RunState;
  /** The state with its secrets: not to be stored or shown. */
  readonly result: () => RunState;
  readonly cancel: (request: { reason: CancelReason; message: string; force: boolean }) => void;
  /** Resolves once the last event is on the disk (or could not be put there) and every process has ended. */
  readonly finished: Promise<RunState>;
};

/** Called for every event after it was stored, in order, with the state that it led to. */
export type RunWatcher = (event: StoredEvent, state: RunState) => void;

/** A run that was accepted earlier and belongs to this process now. */
export type TakenRun = {
  readonly journal: RunJournal;
  /** Those of the journal so far. */
  readonly events: readonly StoredEvent[];
};

/** What carries a run from its first event to its last. */
export type Engine = {
  /** Starts a run that waits; its watcher is told what was stored before, too. */
  readonly carry: (request: RunRequest, taken: TakenRun, watcher: RunWatcher) => ActiveRun;
  /** Stores and starts the run. Throws a `WfError` (`run-exists`, `storage`) before anything has begun. */
  readonly start: (request: RunRequest, watcher: RunWatcher) => ActiveRun;
};
