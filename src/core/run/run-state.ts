import { firstItems, given, type IndexSet, indexSet, itemAt, type Vector, vectorOf } from '../data/collections.ts';
import type { StaleReasons } from '../fingerprint.ts';
import { type Graph, nodeAt, nodeIndex } from '../graph.ts';
import type { HandlerKind, Step, Workflow } from '../workflow.ts';
import {
  type ApprovalAnswer,
  type BlockedBy,
  type CancelReason,
  type ContainerRef,
  type EarlierResult,
  type EarlierSuccess,
  type Ended,
  type FinishedStatus,
  type Item,
  type KeptFile,
  type LockHolder,
  type Outputs,
  type Owner,
  type Param,
  type ProcessIdentity,
  type ProcessOwner,
  type RunCreated,
  type RunReason,
  type RunStatus,
  type SettledStatus,
  type StepStatus,
  stepStatuses,
  type ToleratedBy,
  type WaitingFor,
} from './run.ts';

/** How many of the workflow's steps start, how fast, and their limits; `timeoutMs` absent: no limit. */
export type RunPolicies = Pick<Workflow, 'maxActiveSteps' | 'delayMs'> &
  Partial<Pick<Workflow, 'timeoutMs' | 'late' | 'maxOutputBytes'>> & {
    /** No person is asked: the run answers its approvals itself. */
    readonly isUnattended?: true;
  };

/** A step or handler of a run. While the step waits, `reason` to `outputs` describe the attempt that has just ended. */
export type StepState = Ended & {
  readonly name: string;
  readonly status: StepStatus;
  /** The number of the last scheduled attempt; 0 before the first. */
  readonly attempt: number;
  /** When the first attempt started. */
  readonly startedAt: number | null;
  /** Since when it is late; absent if it never was. */
  readonly lateAt?: number;
  readonly finishedAt: number | null;
  /** The outputs of the last attempt that had any. */
  readonly outputs: Outputs;
  /** The artifacts of an attempt; absent if no attempt kept any. */
  readonly artifacts?: StepArtifacts;
  /** Of a step with `sources`: whether it was up to date; absent before its check, and if it was not checked. */
  readonly cache?: StepCache;
  /** Names of the outputs whose values are masked because they are or contain secrets; absent if none are. */
  readonly masked?: readonly string[];
  readonly process: ProcessIdentity | null;
  /** The container of the last attempt; null if it has none. */
  readonly container: ContainerRef | null;
  /** Whether the service of the last attempt has been ready. */
  readonly isReady: boolean;
  /** Whether the service was asked to end, since no step needs it any more. */
  readonly isEnding: boolean;
  /** The sub-run of the last attempt that started one. */
  readonly child?: string;
  /** The worker of the last attempt that started on one. */
  readonly worker?: string;
  readonly waitingFor: WaitingFor | null;
  /** What the last attempt waited for; absent if it never had to. */
  readonly blocked?: BlockedState;
  /**
   * The end of the wait. Null after that time, while the step waits only for a free slot, and for an approval without
   * a time limit.
   */
  readonly until: number | null;
  readonly approval?: AskedApproval;
  /** Retries since the last repetition started. */
  readonly retries: number;
  /** Repetitions that ended with another one to follow. */
  readonly repetitions: number;
  /** What tolerated the failure of the last attempt; also of a step that `markSuccess` made succeed. */
  readonly tolerated: ToleratedBy | null;
  /** The result was taken from the run being retried. */
  readonly restored: boolean;
  /** For a restored step: the run in which it ended, if recorded. */
  readonly origin?: string;
  /** For a restored step: its logs and its child in that run, if texts refer to its result. */
  readonly earlier?: Omit<EarlierResult, 'exitCode'>;
  readonly instances?: Instances;
  readonly item?: ItemState;
  /** Number of dependencies that are not settled yet. */
  readonly unmet: number;
  /** Number of settled dependencies that prevent the step from running. */
  readonly blocking: number;
};

/** The files that an attempt kept, in their order. They are replaced, perhaps by none, when a later attempt ends. */
export type StepArtifacts = { readonly attempt: number; readonly files: Vector<KeptFile> };

/** Of a step that was up to date the run whose result it has, else why it was not, before this attempt. */
export type StepCache =
  | ({ readonly hit: true } & EarlierSuccess)
  | ({ readonly hit: false; readonly attempt: number } & StaleReasons);

/** Whether the selection of the run left the step out. */
export function isLeftOut({ selection }: Pick<RunState, 'selection'>, step: StepState): boolean {
  return selection !== undefined && step.restored && step.status === 'skipped' && step.origin === undefined;
}

/** The instances of a fan-out. */
export type Instances = {
  /** The node number of the first; the others follow it in the order of the items. */
  readonly first: number;
  readonly count: number;
  /** Instances that may start, subject to the limits, by the index of their item. */
  readonly ready: IndexSet;
  /** Those of `ready` that start again in the slot that they kept. */
  readonly again: IndexSet;
  /** Instances that are scheduled or running, or wait for a lock. */
  readonly active: number;
  /** Instances that keep their slot while they wait for a retry: with `failFast`, no other one starts meanwhile. */
  readonly keeping: number;
  readonly settled: number;
  /** Why no further instance starts although the run continues; null if they may. */
  readonly canceling: string | null;
  /** Maximum number of instances running at once, if a variable gave it. */
  readonly maxConcurrent?: number;
};

/** The item of an instance; `fanOut` is the node number of its step. */
export type ItemState = Item & { readonly fanOut: number; readonly index: number };

/** A wait for a lock or a queue since `since`, and what holds it. `reports`: how many events of the attempt led to this. */
export type BlockedState = {
  readonly name: string;
  readonly holder: LockHolder | null;
  readonly since: number;
  readonly attempt: number;
  readonly reports: number;
};

/** The lock or queue that a run waits for, or waited for before it started. */
export type RunBlocked = Pick<BlockedState, 'name' | 'holder' | 'since'> & { readonly why: BlockedBy };

/** An approval that a step asked for; `until` null: without a time limit. */
export type AskedApproval = {
  readonly prompt: string;
  readonly heldAt: number;
  readonly until: number | null;
  readonly answer: StepAnswer | null;
};

/** The answer to an approval; `by` null: no person answered. */
export type StepAnswer = {
  readonly answer: ApprovalAnswer;
  readonly by: string | null;
  readonly at: number;
  readonly comment: string;
};

/** The first reason to end the run early. Only a failure to write the journal replaces it. */
export type Cancellation = { readonly reason: CancelReason; readonly message: string; readonly force: boolean };

/** The phase of a run after all its steps. */
export type Handling = {
  /** The result of the steps and of an earlier cancellation. */
  readonly status: FinishedStatus;
  readonly reason: RunReason | null;
  /** Handlers run one after another. */
  readonly handlers: readonly HandlerKind[];
  /** The handler that was running when the run was canceled: it is not retried. */
  readonly interrupted: HandlerKind | null;
};

/** A promise to start a run. If `lasting`, the successor of `by` keeps the promise. */
export type Promised = { readonly by: ProcessOwner; readonly lasting: boolean };

/** A problem that changes no outcome; `step` is null if it concerns the run as a whole. */
export type Warning = { readonly step: string | null; readonly message: string };

/**
 * A run at one point in time: the fold of its events. Immutable, so that earlier states stay valid. The texts of `RunCreated`
 * are empty until the run is created.
 */
export type RunState = Omit<RunCreated, 'params' | 'strict' | 'maxConcurrent'> & {
  readonly graph: Graph;
  readonly policies: RunPolicies;
  readonly status: RunStatus;
  readonly reason: RunReason | null;
  /** One line of text to go with `reason`, empty if there is nothing to add. */
  readonly message: string;

  readonly owner: Owner | null;
  /** Who promised to start the waiting run; null after a process owns it, and for a run that never waited. */
  readonly promise: Promised | null;
  /** As given by the caller, and given again to a retry. */
  readonly givenParams: readonly Param[];
  /** As the steps see them; until the run is prepared, those given. */
  readonly params: readonly Param[];
  /** Whether failures tolerated by `continueOn.failure` fail the run. */
  readonly strict: boolean;
  /** 0 until the run is created. */
  readonly createdAt: number;
  readonly startedAt: number | null;
  /** What it waited for last before it started; absent if it never had to. */
  readonly blocked?: RunBlocked;
  /** Since when it is late; absent if it never was. */
  readonly lateAt?: number;
  readonly finishedAt: number | null;
  readonly warnings: readonly Warning[];

  /** By node number of the graph. */
  readonly nodes: Vector<StepState>;
  /** Number of steps (without handlers and instances) by status. */
  readonly counts: { readonly [status in StepStatus]: number };
  /** Steps and instances that count towards the limit: scheduled or running, except for services that are ready. */
  readonly active: number;
  /** Steps that wait for an approval. */
  readonly held: number;
  /** Steps that asked for an approval since the handler `wait` last started. */
  readonly unannounced: readonly string[];
  readonly settled: number;
  /** Failed steps whose failure is tolerated by their own `continueOn`. */
  readonly tolerated: number;
  /** Steps that may start or have an instance that may, subject to the limit and the delay. */
  readonly ready: IndexSet;
  /** Steps that are settled next: their dependencies do not let them run, or all their instances have ended. */
  readonly due: IndexSet;
  /** When the last attempt at a step was scheduled. */
  readonly lastStartAt: number | null;
  /** When the delay of `delayMs` ends, during which no step may start; null outside of it. */
  readonly delayedUntil: number | null;
  readonly cancellation: Cancellation | null;
  readonly handling: Handling | null;
};

/** A run without events. A workflow can be passed as its policies. */
export function initialRun(graph: Graph, policies: RunPolicies): RunState {
  const nodes = graph.nodes.map((node, number) => initialStep(node.name, graph.dependencies[number]?.length ?? 0));
  const steps = nodes.slice(0, graph.stepCount);
  const { maxActiveSteps, delayMs, timeoutMs, late, maxOutputBytes, isUnattended } = policies;
  const roots = steps.flatMap((step, number) => (step.unmet === 0 ? [number] : []));
  return {
    graph,
    policies: { maxActiveSteps, delayMs, ...given({ timeoutMs, late, maxOutputBytes, isUnattended }) },
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
    held: 0,
    unannounced: [],
    settled: 0,
    tolerated: 0,
    ready: indexSet(graph.stepCount, roots),
    due: indexSet(graph.stepCount, []),
    lastStartAt: null,
    delayedUntil: null,
    cancellation: null,
    handling: null,
  };
}

/** The step or handler with that name. Throws if the workflow has none. */
export function stepState(run: RunState, name: string): StepState {
  return itemAt(run.nodes, nodeIndex(run.graph, name));
}

/** The definition of the step or handler with that name. Throws if the workflow has none. */
export function stepNode({ graph }: RunState, name: string): Step {
  return nodeAt(graph, nodeIndex(graph, name));
}

/** All steps in the order of the file, without the handlers. */
export function steps(run: RunState): Iterable<StepState> {
  return firstItems(run.nodes, run.graph.stepCount);
}

/** The instances of an expanded fan-out in the order of its items; none of any other step. */
export function instancesOf(run: RunState, { instances }: StepState): readonly StepState[] {
  if (instances === undefined) return [];
  return Array.from({ length: instances.count }, (_, index) => itemAt(run.nodes, instances.first + index));
}

/** The steps without their final status; of an expanded fan-out, its instances. */
export function unsettledSteps(run: RunState): readonly StepState[] {
  const all = [...steps(run)].flatMap((step) => (step.instances === undefined ? [step] : instancesOf(run, step)));
  return all.filter((step) => !isSettled(step));
}

/** Whether the step has its final status. */
export function isSettled(step: StepState): step is StepState & { readonly status: SettledStatus } {
  const { status } = step;
  return status !== 'pending' && status !== 'scheduled' && status !== 'running' && status !== 'waiting';
}

/** Whether an attempt at the step is starting or running. Of an expanded fan-out, only its instances are attempted. */
export function isActive({ status, instances }: StepState): boolean {
  return instances === undefined && (status === 'scheduled' || status === 'running');
}

/** Whether an attempt at the step waits for a lock or a queue: `waiting`, but the attempt has not ended. */
export function isBlocked({ waitingFor }: Pick<StepState, 'waitingFor'>): boolean {
  return waitingFor === 'lock' || waitingFor === 'queue';
}

/** Whether there is an attempt at the step that will report its end. */
export function hasAttempt(step: StepState): boolean {
  return isActive(step) || isBlocked(step);
}

/** Whether the step may be scheduled beyond the limit, to start when another one ends. */
export function isAhead({ active, policies }: RunState, { status }: StepState): boolean {
  const { maxActiveSteps } = policies;
  return status === 'scheduled' && maxActiveSteps > 0 && active > maxActiveSteps;
}

/** Whether the next attempt may start, as far as the step itself is concerned. */
export function isDue(step: StepState): boolean {
  const { status, until } = step;
  return status === 'pending' || (status === 'waiting' && until === null && !isBlocked(step));
}

/** Whether a service is ready for its dependents. */
export function isServing({ isReady, status }: StepState): boolean {
  return isReady && status === 'running';
}

/** Whether the run waits only for approvals; services continue meanwhile. */
export function isHeld(run: RunState): boolean {
  const { status, held, active, counts } = run;
  if (status !== 'running' || held === 0 || active > 0 || counts.waiting !== held) return false;
  return counts.running === 0 || [...steps(run)].every((step) => step.status !== 'running' || isServing(step));
}

/** The steps that wait for an approval. */
export function heldSteps(run: RunState): readonly StepState[] {
  return run.held === 0 ? [] : [...steps(run)].filter(({ waitingFor }) => waitingFor === 'approval');
}

/** Whether the run has its final status. */
export function isFinished(run: { readonly finishedAt: number | string | null }): boolean {
  return run.finishedAt !== null;
}

const noSteps = Object.fromEntries(stepStatuses.map((status) => [status, 0])) as RunState['counts'];

/** A step before its first event. */
export function initialStep(name: string, unmet: number): StepState {
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
    container: null,
    isReady: false,
    isEnding: false,
    waitingFor: null,
    until: null,
    retries: 0,
    repetitions: 0,
    tolerated: null,
    restored: false,
    unmet,
    blocking: 0,
  };
}
