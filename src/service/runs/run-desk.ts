import type { RetrySelection } from '../../core/run/retry.ts';
import type { Param, Trigger } from '../../core/run/run.ts';
import type { WorkflowReference } from '../workflows/workflows.ts';

/** An order to start a run. */
export type RunOrder = {
  readonly workflow: WorkflowReference;
  /** Literal data, never evaluated. Null: the defaults of the file. */
  readonly params: readonly Param[] | null;
  /** Null: a new id. If a run with this id exists, it is returned and nothing starts. */
  readonly runId: string | null;
  readonly trigger: Trigger;
  /** Failures that `continueOn.failure` tolerates fail the run, even if the desk is not strict. */
  readonly strict?: boolean;
};

/** An order to retry a run. */
export type RetryOrder = {
  /** The full id of the run to retry. */
  readonly runId: string;
  readonly selection: RetrySelection;
  readonly params: readonly Param[] | null;
  /** Uses the present file instead of the stored workflow. */
  readonly useFile: boolean;
  readonly newRunId: string | null;
  /** See `RunOrder`; the retry of a strict run is strict too. */
  readonly strict?: boolean;
};

/** `isNew`: false if a run with that id existed. */
export type AcceptedRun = { readonly runId: string; readonly isNew: boolean };

/**
 * Accepts orders for runs; each run has a process of its own over the same store. An accepted run is stored on the disk,
 * so that it survives this process. Every method throws a `WfError` if it fails.
 */
export type RunDesk = {
  /** Throws `not-found`, `InvalidWorkflow`, `usage` (a parameter), `busy` (the queue is full), `storage`. */
  readonly start: (order: RunOrder) => Promise<AcceptedRun>;
  /** Returns null if no step is left to run. Throws `not-found`, `run-active`, `busy`, `storage`, `usage`. */
  readonly retry: (order: RetryOrder) => Promise<AcceptedRun | null>;
  /**
   * Asks the run's owner to stop it; resolves when the request is durable. A queued run is canceled at once. `over`: the
   * run had already finished. Throws `not-found`.
   */
  readonly stop: (runId: string, by: string) => Promise<'asked' | 'canceled' | 'over'>;
};
