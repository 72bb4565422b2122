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

/** What the engine of this process works with. */
export type LocalEngineOptions = {
  readonly store: RunStore;
  readonly clock: Clock;
  /** The environment beneath every step's own. */
  readonly processEnv: Environment;
  readonly owner: Owner;
  /** The executor of a type; a promise only where its module is not loaded yet. */
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

/** Called for each run that a step carries out, before it starts; returns who watches it. */
export type OnChild = (parent: ParentStep, child: Subworkflow) => ChildWatcher;

/** The step that carries out another run. */
export type ParentStep = { readonly runId: string; readonly step: string; readonly attempt: number };

/** Who watches a child run; `attach` is called in the turn in which it starts. */
export type ChildWatcher = { readonly watch: RunWatcher; readonly attach: (run: ActiveRun) => void };

/** Another workflow for a step that runs it; `params` come with their variables still in place. */
export type Subworkflow = {
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
  readonly params: readonly { readonly name: string | null; readonly value: Template }[];
};

/** What a step that runs another workflow asks for in a retry: what its earlier run of that workflow achieved. */
export type ChildRetryRequest = {
  /** The run that is retried. */
  readonly retryOf: string;
  readonly step: string;
  readonly workflow: Workflow;
  readonly params: readonly Param[];
};

/** Plans the retry of the earlier run; null where a new run begins from the start. */
export type RetryChild = (
  request: ChildRetryRequest,
) => Promise<{ readonly retryOf: string; readonly restored: readonly RestoredStep[] } | null>;

/** Finds a workflow as `run:` names it. Throws a `WfError` that says what is wrong with it. */
export type FindSubworkflow = (request: { run: string; params: string; parent: Workflow }) => Subworkflow;
