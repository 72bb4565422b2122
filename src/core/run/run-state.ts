import type { IndexSet } from '../data/index-set.ts';
import { indexSet } from '../data/index-set.ts';
import type { Vector } from '../data/vector.ts';
import { firstItems, itemAt, vectorOf } from '../data/vector.ts';
import type { Graph } from '../graph.ts';
import { nodeIndex } from '../graph.ts';
import type { HandlerKind, Workflow } from '../workflow.ts';
import type {
  CancelReason,
  FailureReason,
  FinishedStatus,
  Outputs,
  Owner,
  Param,
  ProcessIdentity,
  RunReason,
  RunStatus,
  SettledStatus,
  StepStatus,
  Trigger,
} from './run.ts';

/** What a workflow says about how many steps start, and how fast. */
export type RunPolicies = Pick<Workflow, 'maxActiveSteps' | 'delayMs'>;

/** A step or handler of a run. While it waits, `reason` to `outputs` tell about the attempt that has just ended. */
export type StepState = {
  readonly name: string;
  readonly status: StepStatus;
  /** The number of the last attempt that was scheduled; 0 before the first. */
  readonly attempt: number;
  /** When the first attempt started. */
  readonly startedAt: number | null;
  /** When the step was settled. */
  readonly finishedAt: number | null;
  readonly reason: FailureReason | null;
  /** One line for a person; empty when there is nothing to say. */
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Those of the last attempt that had any. */
  readonly outputs: Outputs;
  /** Names of the outputs whose values are not told because they are or hold secrets; absent when all are. */
  readonly masked?: readonly string[];
  /** The process of the present attempt. */
  readonly process: ProcessIdentity | null;
  /** The run of another workflow that carries the step out, that of the last attempt which had one. */
  readonly child?: string;
  /** While the step waits: what for. */
  readonly waitingFor: 'retry' | 'repeat' | null;
  /** While the step waits: until when. Null once that time has come and only a free place is missing. */
  readonly until: number | null;
  /** Attempts made again since the last repetition began. */
  readonly retries: number;
  /** Its result was taken over from the run that is retried. */
  readonly restored: boolean;
  /** Of one that was taken over: the run in which it ended so, where that was told. */
  readonly origin?: string;
  /** How many dependencies are not settled yet. */
  readonly unmet: number;
  /** How many dependencies are settled in a way that keeps the step from running. */
  readonly blocking: number;
};

/** The first reason to end the run early; only a journal that cannot be written takes precedence over it. */
export type Cancellation = { readonly reason: CancelReason; readonly message: string; readonly force: boolean };

/** The part of a run after all its steps. */
export type Handling = {
  /** What the steps and an earlier cancellation came to. */
  readonly status: FinishedStatus;
  readonly reason: RunReason | null;
  /** One after another. */
  readonly handlers: readonly HandlerKind[];
  /** The handler that was going on when the run was canceled: it is not tried again. */
  readonly interrupted: HandlerKind | null;
};

/** A promise to start a run. `lasting`: whoever takes the place of `by` keeps it. */
export type Promised = { readonly by: Owner; readonly lasting: boolean };

/** Something that changes no outcome; `step` is null when it is about the run as a whole. */
export type Warning = { readonly step: string | null; readonly message: string };

/** A run at one moment: the fold of its events. It is never changed, so that an old one stays valid. */
export type RunState = {
  readonly graph: Graph;
  readonly policies: RunPolicies;
  readonly status: RunStatus;
  readonly reason: RunReason | null;
  /** One line to go with `reason`; empty when there is nothing to say. */
  readonly message: string;

  /** Empty, as are `workflow` and `group`, until the run is created. */
  readonly runId: string;
  readonly workflow: string;
  readonly group: string;
  readonly file: string | null;
  readonly trigger: Trigger;
  readonly retryOf: string | null;
  readonly owner: Owner | null;
  /** Who has promised to start the run that waits; null once somebody owns it, and for a run that never waited. */
  readonly promise: Promised | null;
  /** As given by the caller; what a retry is given again. */
  readonly givenParams: readonly Param[];
  /** What the steps see; the given ones until the run is prepared. */
  readonly params: readonly Param[];
  /** Failures that `continueOn.failure` tolerates fail the run. */
  readonly strict: boolean;
  /** 0 until the run is created. */
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly warnings: readonly Warning[];

  /** By number of the graph's nodes. */
  readonly nodes: Vector<StepState>;
  /** Steps (without handlers) by status. */
  readonly counts: { readonly [status in StepStatus]: number };
  /** Steps that take a place under the limit: scheduled or running. */
  readonly active: number;
  readonly settled: number;
  /** Steps that failed under their own `continueOn.failure`, or did not succeed in the run that is retried. */
  readonly tolerated: number;
  /** Steps that may start now, but for the limit and the delay. */
  readonly ready: IndexSet;
  /** Steps whose dependencies are all settled and do not let them run: to be settled next. */
  readonly blocked: IndexSet;
  /** When the last attempt at a step was scheduled. */
  readonly lastStartAt: number | null;
  /** While no step may start because of `delayMs`: until when. */
  readonly delayedUntil: number | null;
  readonly cancellation: Cancellation | null;
  readonly handling: Handling | null;
};

/** A run of which nothing has happened yet; a workflow serves as its policies. */
export function initialRun(graph: Graph, policies: RunPolicies): RunState {
  const nodes = graph.nodes.map((node, number) => initialStep(node.name, graph.dependencies[number]?.length ?? 0));
  const steps = nodes.slice(0, graph.stepCount);
  const roots = steps.flatMap((step, number) => (step.unmet === 0 ? [number] : []));
  return {
    graph,
    policies: { maxActiveSteps: policies.maxActiveSteps, delayMs: policies.delayMs },
    status: 'queued',
    reason: null,
    message: '',
    runId: '',
    workflow: '',
    group: '',
    file: null,
    trigger: 'cli',
    retryOf: null,
    owner: null,
    promise: null,
    givenParams: [],
    params: [],
    strict: false,
    createdAt: 0,
    startedAt: null,
    finishedAt: null,
    warnings: [],
    nodes: vectorOf(nodes),
    counts: { ...noSteps, pending: graph.stepCount },
    active: 0,
    settled: 0,
    tolerated: 0,
    ready: indexSet(graph.stepCount, roots),
    blocked: indexSet(graph.stepCount, []),
    lastStartAt: null,
    delayedUntil: null,
    cancellation: null,
    handling: null,
  };
}

/** The step or handler of that name. Throws when the workflow has none. */
export function stepState(run: RunState, name: string): StepState {
  return itemAt(run.nodes, nodeIndex(run.graph, name));
}

/** All steps in the order of the file, without the handlers. */
export function steps(run: RunState): Iterable<StepState> {
  return firstItems(run.nodes, run.graph.stepCount);
}

/** Nothing more happens to the step. */
export function isSettled(step: StepState): step is StepState & { readonly status: SettledStatus } {
  switch (step.status) {
    case 'succeeded':
    case 'failed':
    case 'skipped':
    case 'canceled':
    case 'upstream_failed':
      return true;
    case 'pending':
    case 'scheduled':
    case 'running':
    case 'waiting':
      return false;
  }
}

/** An attempt at the step is being started or going on. */
export function isActive(step: StepState): boolean {
  return step.status === 'scheduled' || step.status === 'running';
}

/** Nothing more happens to the run. */
export function isFinished(run: { readonly finishedAt: number | string | null }): boolean {
  return run.finishedAt !== null;
}

const noSteps: RunState['counts'] = {
  pending: 0,
  scheduled: 0,
  running: 0,
  waiting: 0,
  succeeded: 0,
  failed: 0,
  skipped: 0,
  canceled: 0,
  upstream_failed: 0,
};

function initialStep(name: string, unmet: number): StepState {
  return {
    name,
    status: 'pending',
    attempt: 0,
    startedAt: null,
    finishedAt: null,
    reason: null,
    message: '',
    exitCode: null,
    signal: null,
    outputs: {},
    process: null,
    waitingFor: null,
    until: null,
    retries: 0,
    restored: false,
    unmet,
    blocking: 0,
  };
}
