import type { Owner, Param, RestoredStep } from '../../core/run/run.ts';
import type { Template, Workflow } from '../../core/workflow.ts';
import type { Executor } from '../../executors/executor.ts';
import type { Source } from '../../language/diagnostic.ts';
import type { RunStore } from '../../store/store.ts';
import type { Clock } from '../clock.ts';
import type { ActiveRun, RunWatcher } from '../engine.ts';
import type { Capture } from './attempt.ts';
import type { BackgroundProcesses } from './background.ts';
import type { Environment } from './environment/environment.ts';
import type { Notify } from './notices.ts';
import type { OpenPipes } from './output/masked-output.ts';

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
  readonly openPipes: OpenPipes;
};

/** Called before a child run starts; returns its watcher. */
export type OnChild = (parent: ParentStep, child: Subworkflow) => ChildWatcher;

/** The step that runs a child run. */
export type ParentStep = { readonly runId: string; readonly step: string; readonly attempt: number };

/** Watches a child run; `attach` is called in the turn of the event loop in which the run starts. */
export type ChildWatcher = { readonly watch: RunWatcher; readonly attach: (run: ActiveRun) => void };

/** A sub-workflow to run; `params` still contain variables. */
export type Subworkflow = {
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
  readonly params: readonly { readonly name: string | null; readonly value: Template }[];
};

/** The earlier child run of a step, to be retried with its parent. */
export type ChildRetryRequest = {
  /** The run that is retried. */
  readonly retryOf: string;
  readonly step: string;
  readonly workflow: Workflow;
  readonly params: readonly Param[];
};

/** Plans the retry of an earlier child run; null starts a new run from the beginning. */
export type RetryChild = (
  request: ChildRetryRequest,
) => Promise<{ readonly retryOf: string; readonly restored: readonly RestoredStep[] } | null>;

/** Resolves the workflow named by `run:`. Throws a `WfError` if it is missing or invalid. */
export type FindSubworkflow = (request: { run: string; params: string; parent: Workflow }) => Subworkflow;
