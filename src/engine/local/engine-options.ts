import type { Owner } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Environment } from '#environment/environment.ts';
import type { Executor, SubworkflowRequest } from '#executors/executor.ts';
import type { RunStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import type { Capture } from '../attempt/attempt-context.ts';
import type { OpenPipe } from '../attempt/output/masked-output.ts';
import type { BackgroundProcesses, Notify, OnChild, RetryChild, Subworkflow } from '../engine.ts';

/** Dependencies of the local engine. */
export type LocalEngineOptions = {
  readonly store: RunStore;
  readonly clock: Clock;
  /** The base environment of every step. */
  readonly processEnv: Environment;
  readonly owner: Owner;
  /** Returns the executor for a type; a promise only if its module is not loaded yet. */
  readonly executor: (type: string) => Executor | Promise<Executor>;
  readonly capture: Capture;
  readonly background: BackgroundProcesses;
  readonly findSubworkflow: FindSubworkflow;
  readonly retryChild: RetryChild;
  readonly onChild?: OnChild | null;
  readonly newRunId: () => string;
  readonly notify: Notify;
  readonly openPipe: OpenPipe;
};

/**
 * Resolves the workflow named by `run:`, and its parameters, in whose values `expand` replaces variables. Throws a
 * `WfError` if the workflow is missing or invalid, or refuses the parameters.
 */
export type FindSubworkflow = (
  request: SubworkflowRequest & { readonly parent: Workflow; readonly expand: (text: string) => string },
) => Subworkflow | Promise<Subworkflow>;
