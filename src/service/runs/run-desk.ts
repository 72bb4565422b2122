import type { RetrySelection } from '../../core/run/retry.ts';
import type { Param, Trigger } from '../../core/run/run.ts';
import type { WorkflowReference } from '../workflows/workflows.ts';

/** A run that somebody asks a long-living process for. */
export type RunOrder = {
  readonly workflow: WorkflowReference;
  /** As given: data, never evaluated. Null: the defaults of the file. */
  readonly params: readonly Param[] | null;
  /** Null: a new one is made. A run of that name that exists is answered with, and nothing starts. */
  readonly runId: string | null;
  readonly trigger: Trigger;
  /** Failures that `continueOn.failure` tolerates fail the run, also where the desk is not strict by itself. */
  readonly strict?: boolean;
};

/** A retry that somebody asks for. */
export type RetryOrder = {
  /** The full id of the run to retry. */
  readonly runId: string;
  readonly selection: RetrySelection;
  readonly params: readonly Param[] | null;
  /** Takes the file as it is today. */
  readonly useFile: boolean;
  readonly newRunId: string | null;
  /** See `RunOrder`; the retry of a strict run is strict too. */
  readonly strict?: boolean;
};

/** `isNew`: false when a run of that id was there already. */
export type AcceptedRun = { readonly runId: string; readonly isNew: boolean };

/**
 * Where runs are asked for that others carry out: each is a process of its own over the same store. What was accepted is on
 * the disk, so that it is not lost with this process. Every method throws a `WfError` for what cannot be done.
 */
export type RunDesk = {
  /** Throws `not-found`, `InvalidWorkflow`, `usage` (a parameter), `busy` (the queue is full), `storage`. */
  readonly start: (order: RunOrder) => Promise<AcceptedRun>;
  /** Null when there is nothing to do. Throws `not-found`, `run-active`, `busy`, `storage`, `usage`. */
  readonly retry: (order: RetryOrder) => Promise<AcceptedRun | null>;
  /**
   * Asks the run's owner to stop it; resolves when the request is durable. A queued run is canceled at once. `over`: the run
   * had ended before. Throws `not-found`.
   */
  readonly stop: (runId: string, by: string) => Promise<'asked' | 'canceled' | 'over'>;
};
