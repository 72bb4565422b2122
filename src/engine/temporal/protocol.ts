import type { CancelReason, LockHolder, Outcome, Outputs, Param, RunEvent, RunInput } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { SelectedLabels } from '#core/selectors.ts';
import { allSteps, type Lock, type Workflow } from '#core/workflow.ts';
import type { SubworkflowResult } from '#executors/executor.ts';
import type { LockRequest } from '#store/store.ts';
import { createdEvent } from '../driver/created-event.ts';
import type { PreparedRun } from '../driver/driver.ts';
import type { StepTask } from '../driver/step-task.ts';
import type { GivenAnswer, NoticeStatus, OuterLock, RunRequest } from '../engine.ts';

/** What crosses between `wf run`, the workflow of a run in Temporal and the workers: JSON throughout. */

/** Rises when `transition` decides differently, since a run is replayed by the code that began it. */
export const CORE = 1;

/**
 * Earlier values of `CORE` whose code this release carries too, as files in `workflow/earlier/`: the runs that they began
 * continue with it. The last one, once there is one.
 */
export const EARLIER_CORES: readonly number[] = [];

/** The type of the workflow of a run, by its core. */
export function runType(core: number): string {
  return `wf.run.${core}`;
}

/** The type of the workflow of a new run. */
export const RUN_TYPE = runType(CORE);

/** The type of the workflow of a queue of runs. It rises when the decisions of `RunQueue` change. */
export const QUEUE_TYPE = 'wf.queue.1';

/** The task queue of runs and of their attempts. */
export const DEFAULT_QUEUE = 'wf';

/** The task queue of short work, which waits for no slot of a worker: notices, and the names of locks. */
export const SHORT_QUEUE = 'wf.short';

/** The task queue of the attempts that need a worker with labels, as `labelsText` has them; empty: any worker. */
export function labelsQueue(labels: string): string {
  return labels === '' ? DEFAULT_QUEUE : `${DEFAULT_QUEUE}:${labels}`;
}

/** The task queue of one worker, for work that only it can do. */
export function ownQueue(worker: string): string {
  return `wf.worker.${worker}`;
}

/** The task queue of the steps of runs that are bound to one worker. */
export function stepsQueue(worker: string): string {
  return `${ownQueue(worker)}:steps`;
}

/**
 * Temporal compares kinds and ids of activities when it replays: so another step or attempt is a mismatch. `isAfterChild`:
 * the rest of an attempt whose child run has ended.
 */
export function attemptId(step: string, attempt: number, isAfterChild = false): string {
  return `${step}#${attempt}${isAfterChild ? '#end' : ''}`;
}

/** The name of the error for data that cannot be read, as Temporal reports it. */
export const UNREADABLE = 'UnreadableData';

/** The name of the error for work that a worker has taken without a free slot: it is ordered again. */
export const NO_SLOT = 'NoSlot';

/** Names of activities, signals, the query and a field of the memo. */
export const NAMES = {
  prepare: 'wf.prepare',
  attempt: 'wf.attempt',
  cleanUp: 'wf.cleanUp',
  /** Binds a run to the worker that takes it: returns its name. */
  bind: 'wf.bind',
  /** Lasts while that worker takes steps of the run. */
  stay: 'wf.stay',
  notice: 'wf.notice',
  lockNames: 'wf.lockNames',
  stop: 'stop',
  answer: 'answer',
  progress: 'progress',
  events: 'events',
  enterQueue: 'wf.enterQueue',
  endedRuns: 'wf.endedRuns',
  /** To a queue: a run asks for a slot, needs none any more, or waits only for approvals. */
  enter: 'enter',
  leave: 'leave',
  hold: 'hold',
  /** To a run, from a queue. */
  queued: 'queued',
  /** Set when a run is killed: workers read it after they were asked to end an attempt. */
  killed: 'wfKilled',
} as const;

/** The first argument of the workflow. `engine`: the address as the run records it; `at`: when the run was accepted. */
export type EngineRun = {
  readonly request: RunRequest;
  readonly engine: string;
  /** The release of `wf` that started the run: workers that lack its code name it. */
  readonly release?: string;
  readonly at: number;
  /** How long a worker may be silent before its attempts are lost, in milliseconds. */
  readonly lostAfterMs: number;
  /** The queues in which the run needs a slot, in the order in which it asks for them; absent: none. */
  readonly queues?: readonly RunQueueRef[];
  /** How it and its child runs take locks; absent: none of them has any. */
  readonly locks?: EngineLocks;
  /** The queues of the workflows that its steps may run; absent: none. */
  readonly childQueues?: readonly RunQueueRef[];
  /** Of a child run: the secrets of the run that runs it; absent: none. */
  readonly secrets?: readonly string[];
  /** Of a child run: the worker to which the run that runs it is bound; absent: none. */
  readonly worker?: string;
};

/**
 * The second argument of the workflow of a large run, which continues in a new execution with an empty history: what the
 * one before has left. `execution`: the number of the new one, 0 for the first of a run. `events`: those after the number
 * `after`; the events before are in the arguments of earlier executions. `limitMs`: what is left of the time limit of the
 * run; 0: it has none. `queued`: its place in its queues; `locks`: those that it holds; absent: it has none. `boundTo`: its
 * only worker; absent: it is bound to none.
 */
export type CarriedRun = {
  readonly execution: number;
  readonly state: Omit<RunState, 'graph'>;
  readonly events: readonly RunEvent[];
  readonly after: number;
  readonly secrets: readonly string[];
  readonly outputs: Outputs;
  readonly workers: readonly string[];
  readonly evaluated: PrepareReport['evaluated'];
  readonly limitMs: number;
  readonly queued?: QueuedRun;
  readonly locks?: HeldLocks;
  readonly boundTo?: string;
};

/** A queue of runs. `id`: of its workflow; `name`: for users; `limit`: the most runs at once. */
export type RunQueueRef = { readonly id: string; readonly name: string; readonly limit: number };

/** `prefix`: of the ids of the workflows of locks; `pools`: the locks with more than one slot, or with a rate. */
export type EngineLocks = {
  readonly prefix: string;
  readonly pools: readonly { readonly name: string; readonly slots: number; readonly perMinute?: number }[];
};

/** The locks that a run holds, as requests in their queues; `outer`: within which its steps run; `count`: of its requests. */
export type HeldLocks = {
  readonly held: readonly { readonly id: string; readonly queue: string }[];
  readonly outer: readonly OuterLock[];
  readonly count: number;
};

/**
 * A run that asks for a slot. `startedAt`: by the clock of Temporal; runs that started earlier come first. `lock`: it asks for
 * a lock instead, at that time.
 */
export type QueueEntry = {
  readonly runId: string;
  readonly workflow: string;
  readonly limit: number;
  readonly startedAt: number;
  readonly lock?: LockEntry;
};

/** A request for a lock. `id`: of the request, in its answers; `step`: that needs it, null: the run. */
export type LockEntry = Pick<LockRequest, 'mode' | 'slots' | 'perMinute'> & {
  readonly id: string;
  readonly step: string | null;
};

/** A run in its queues, by their ids: those that it has asked, and in which it has a slot. `isHeld`: it has freed these. */
export type QueuedRun = {
  readonly asked: readonly string[];
  readonly admitted: readonly string[];
  readonly isHeld: boolean;
};

/** What a queue, by its `id`, tells a run. `request`: for a lock, by its id; absent: for a slot of the queue. */
export type QueuedNotice = { readonly queue: string; readonly request?: string } & (
  | { readonly type: 'admitted' }
  | { readonly type: 'blocked'; readonly holder: LockHolder | null }
);

/** The names of the calls of `QueueCalls`. */
export type EnterQueue = (typeof NAMES)['enterQueue'];
export type EndedRuns = (typeof NAMES)['endedRuns'];

/** Calls of workflows to Temporal, made by the worker that executes the workflow, beside its slots. */
export type QueueCalls = {
  /** Asks a queue for a slot; starts the queue if it does not run. */
  readonly [name in EnterQueue]: (queue: string, entry: QueueEntry) => Promise<void>;
} & {
  /** Returns those of the runs that have ended, or that Temporal does not know. */
  readonly [name in EndedRuns]: (runIds: readonly string[]) => Promise<readonly string[]>;
};

/** The options of these calls: they are repeated until they succeed. */
export const LOCAL_CALL = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: 500, maximumInterval: 10_000 },
} as const;

/** The first events of a run, which follow from its argument: no worker is needed for them. */
export function openingEvents({ request, engine, at }: EngineRun): readonly RunEvent[] {
  return [createdEvent(request, at), { type: 'run.owned', at, owner: { engine, id: request.runId } }];
}

/** Whose artifacts a directory has: a step's, or those of another run. */
export type ArtifactsOf = { readonly step: string } | { readonly runId: string };

const ARTIFACTS = 'wf.artifacts:';

/** Stands for a directory of artifacts, which has another path on each machine; without characters that JSON escapes. */
export function artifactsMark(of: ArtifactsOf): string {
  return ARTIFACTS + encodeURIComponent(JSON.stringify(of));
}

/** Reads `artifactsMark`; null for any other text. */
export function readArtifactsMark(text: string): ArtifactsOf | null {
  if (!text.startsWith(ARTIFACTS)) return null;
  return JSON.parse(decodeURIComponent(text.slice(ARTIFACTS.length))) as ArtifactsOf;
}

/** A warning of a worker about a step, or about the run. */
export type EngineWarning = { readonly step: string | null; readonly message: string };

/** What a worker found out besides the result of its work. `secrets`: values that it has learned, to be masked. */
type Findings = {
  readonly worker: string;
  readonly secrets: readonly string[];
  readonly warnings: readonly EngineWarning[];
};

/**
 * The evaluation of a run. `evaluated`: its variables for all workers, the labels that steps need, and the locks of the run; null
 * if there is a problem.
 */
export type PrepareReport = Findings & {
  readonly prepared: PreparedRun;
  /** The results of the run being retried, with the artifacts that are there; absent: as in the request. */
  readonly restored?: RunRequest['restored'];
  readonly evaluated: {
    readonly params: readonly Param[];
    readonly variables: Readonly<Record<string, string>>;
    readonly labels?: SelectedLabels;
    readonly locks?: readonly Lock[];
  } | null;
};

/**
 * An attempt to make. `outputs`: the variables that were set since the evaluation of the run. `child`: the child run of the
 * attempt has ended, and the rest is to be done.
 */
export type AttemptOrder = {
  readonly task: StepTask;
  readonly outputs: Outputs;
  readonly child?: ChildEnd;
  /** The most bytes of the end of each log that the report may hold. */
  readonly logBytes: number;
};

/** The end of a log; `size`: the bytes of all of it. */
export type LogEnd = { readonly stream: 'output' | 'stdout' | 'stderr'; readonly size: number; readonly end: string };

/** What came of an attempt so far: sent once if it runs for more than a second. */
export type AttemptProgress = Findings & {
  readonly step: string;
  readonly attempt: number;
  readonly inputs: readonly RunInput[];
};

/**
 * The result of an attempt; its last input is the end. `logs`: the end of each log, in base64. `store`: the log store that
 * gets all of them; absent: none.
 */
export type AttemptEndReport = AttemptProgress & { readonly logs: readonly LogEnd[]; readonly store?: string };

/**
 * The child run that an attempt asks for: a worker has evaluated it, and the workflow starts it, so that it needs no slot.
 * `run`: the name of its workflow, see `knownWorkflow`; `isRetry`: it retries the earlier child run of the step;
 * `variables`: the `env` of the step; `timeoutMs`, `graceMs`: of the step.
 */
export type ChildStart = {
  readonly runId: string;
  readonly run: string;
  readonly params: readonly Param[];
  readonly isRetry: boolean;
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly graceMs?: number;
};

/** A child run that has ended. `ended`: why it was asked to; null: it was not. */
export type ChildEnd = {
  readonly start: ChildStart;
  readonly retryOf: string | null;
  readonly result: SubworkflowResult;
  readonly ended: 'stop' | 'timeout' | null;
};

/** The report of an attempt that continues when its child run has ended. */
export type ChildReport = AttemptProgress & { readonly child: ChildStart };

/** Asks for the locks of an attempt, with the values of the variables in their names; or why there are none. */
export type LockNamesOrder = Pick<AttemptOrder, 'task' | 'outputs'>;
export type LockNames = { readonly locks: readonly Lock[] } | { readonly problem: string };

/**
 * A notice to send, about a step or, if it is null, about the run, as it was after a number of `events`. `outputs`: as those
 * of an attempt.
 */
export type NoticeOrder = {
  readonly step: string | null;
  readonly status: NoticeStatus;
  readonly events: number;
  readonly outputs: Outputs;
};

/** What is to be ended on a worker. `spared`: steps whose processes are left alone. */
export type CleanUpOrder = { readonly spared: readonly string[]; readonly force: boolean };

/** A request to end the run. */
export type StopOrder = { readonly reason: CancelReason; readonly message: string; readonly force: boolean };

/** An answer to the approval of a step. */
export type AnswerOrder = GivenAnswer;

/**
 * The events of a run after a number, `after`: the one that was asked for, or that of the first event that the execution
 * still has. `known`: the number of the event in the history of `execution` that began the workflow task which decided the
 * last of them, and `decidedAt` its time in ms: so a reader of the histories knows whether it has seen the reports behind them,
 * and whether the engine has stored that decision.
 */
export type EngineEvents = {
  readonly events: readonly RunEvent[];
  readonly after: number;
  readonly secrets: readonly string[];
  readonly execution: number;
  readonly known: number;
  readonly decidedAt: number;
};

/** The result of the workflow: its events, after those that are in the arguments of earlier executions. */
export type EngineResult = Pick<EngineEvents, 'events' | 'after' | 'secrets'> & {
  /** Of a child run: the result for the step that runs it. */
  readonly child?: SubworkflowResult;
};

/** Whether the result of an activity is a report of an attempt; anything else fails the attempt. */
export function isAttemptReport(value: unknown): value is AttemptEndReport {
  if (typeof value !== 'object' || value === null) return false;
  const { worker, inputs, secrets, warnings } = value as Partial<AttemptEndReport>;
  if (typeof worker !== 'string' || !Array.isArray(secrets) || !Array.isArray(warnings)) return false;
  const last: unknown = Array.isArray(inputs) ? inputs.at(-1) : undefined;
  if (typeof last !== 'object' || last === null || !('type' in last)) return false;
  return last.type === 'attempt-ended' || last.type === 'items-read';
}

/** Whether the result of an activity is a report of an attempt that waits for its child run. */
export function isChildReport(value: unknown): value is ChildReport {
  if (typeof value !== 'object' || value === null) return false;
  const { child, worker, inputs, secrets, warnings } = value as Partial<ChildReport>;
  const isReport = typeof worker === 'string' && [inputs, secrets, warnings].every(Array.isArray);
  return isReport && typeof child === 'object' && typeof child.runId === 'string' && Array.isArray(child.params);
}

/** A worker that does not know a run of this number of attempts may need longer for a replay than the usual limit. */
const LARGE_RUN = 1000;

/** Whether a run can make more attempts than that. */
function mayBeLarge(workflow: Workflow): boolean {
  const attempts = allSteps(workflow).reduce((sum, { fanOut, retry, repeat }) => {
    const items =
      fanOut === undefined ? 1 : typeof fanOut.items === 'string' ? Number.POSITIVE_INFINITY : fanOut.items.length;
    const repetitions = repeat === null ? 1 : (repeat.limit ?? Number.POSITIVE_INFINITY);
    return sum + items * repetitions * (1 + retry.limit);
  }, 0);
  return attempts > LARGE_RUN;
}

/** The options with which the workflow of a run is started. */
export function runOptions(run: EngineRun) {
  const { runId, workflow, trigger } = run.request;
  return {
    workflowId: runId,
    taskQueue: DEFAULT_QUEUE,
    args: [run] as [EngineRun],
    memo: { name: workflow.name, trigger },
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowTaskTimeout: mayBeLarge(workflow) ? '60 seconds' : '10 seconds',
  } as const;
}

/** The outcome of an attempt that its worker did not finish, or could not report. */
export function lostOutcome(message: string): Outcome {
  return { status: 'failed', reason: 'lost', message, exitCode: null, signal: null, outputs: {} };
}
