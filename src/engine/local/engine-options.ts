import type { Owner } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import type { SubworkflowRequest } from '#executors/executor.ts';
import type { Source } from '#language/diagnostic.ts';
import type { RunStore } from '#store/store.ts';
import type { AttemptHost } from '../attempt/attempt-context.ts';
import type { LockOptions } from '../attempt/run-locks.ts';
import type { BackgroundProcesses, ChildWorkflow, Notify, OnChild, RetryChild, Subworkflow } from '../engine.ts';

/** Dependencies of the local engine. */
export type LocalEngineOptions = Omit<AttemptHost, 'runWorkflow'> & {
  readonly store: RunStore;
  readonly owner: Owner;
  readonly background: BackgroundProcesses;
  readonly findSubworkflow: FindSubworkflow;
  readonly retryChild: RetryChild;
  readonly onChild?: OnChild | null;
  readonly newRunId: () => string;
  readonly notify: Notify;
  readonly locks: LockOptions;
  /** A run whose steps need workers with labels fails; by default, it warns. */
  readonly needsSelected?: boolean;
};

/**
 * Resolves the workflow named by `run:`, and its parameters, in whose values `expand` replaces variables. Throws a
 * `WfError` if the workflow is missing or invalid, or refuses the parameters.
 */
export type FindSubworkflow = (
  request: SubworkflowRequest & {
    readonly parent: Workflow;
    /** Those of the parent. */
    readonly sources: readonly Source[];
    readonly expand: (text: string) => string;
    /** The workflow, if it was read before. */
    readonly known?: ChildWorkflow;
  },
) => Subworkflow | Promise<Subworkflow>;

/**
 * Reads the workflow named by `run:` in a workflow. Throws a `WfError` if it is missing or invalid, or one of its dotenv
 * files is.
 */
export type LoadSubworkflow = (asked: {
  readonly run: string;
  readonly parent: Workflow;
  readonly sources: readonly Source[];
}) => Promise<ChildWorkflow>;
