import type { StaleReasons } from '../fingerprint.ts';
import type { StepSelection } from '../graph.ts';
import type { HandlerKind, ItemValue, NumberValue, ParamRule, RunNumberKey, RunRetryPolicy } from '../workflow.ts';

/**
 * The vocabulary of a run: its inputs (`RunInput`), its events (`RunEvent`) and the outcome of one attempt (`Outcome`).
 * Plain JSON throughout; `at` and `until` are milliseconds since 1970-01-01 UTC.
 *
 *   step:  pending -> scheduled -> running -> (waiting -> scheduled ->) succeeded | failed | skipped | canceled
 *          pending -> skipped | canceled | upstream_failed
 *          running -> waiting -> succeeded | failed | canceled (for an approval)
 *          scheduled -> waiting -> scheduled | failed | canceled (for a lock or a queue)
 *   run:   queued -> running -> (canceling ->) (handling ->) succeeded | partially_succeeded | failed | canceled | skipped
 *
 * A service has further states while it is running: starting -> serving (`step.serving`) -> ending (`step.ending`). It
 * goes back to the first with the next attempt.
 *
 * A handler goes through the same states as a step, under the name `handlerOn.<kind>`. So does each instance of a
 * fan-out, under the name `<step>[<key>]`: the step itself is `running` from the event `step.expanded` until all its
 * instances have ended.
 */

/** Every status of a step or handler. */
export const stepStatuses = [
  'pending',
  'scheduled',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'skipped',
  'canceled',
  'upstream_failed',
] as const;

export type StepStatus = (typeof stepStatuses)[number];

/** Every status of a run. */
export const runStatuses = [
  'queued',
  'running',
  'canceling',
  'handling',
  'succeeded',
  'partially_succeeded',
  'failed',
  'canceled',
  'skipped',
] as const;

export type RunStatus = (typeof runStatuses)[number];

/** Final statuses of a step. */
export type SettledStatus = Exclude<StepStatus, 'pending' | 'scheduled' | 'running' | 'waiting'>;

/** Final statuses of a run. */
export type FinishedStatus = Exclude<RunStatus, 'queued' | 'running' | 'canceling' | 'handling'>;

/** Statuses that a user can give to a step of a finished run. */
export type MarkedStatus = Extract<SettledStatus, 'succeeded' | 'failed'>;

/**
 * Why an attempt failed: its exit code, a signal from outside, its time limit, an error before or around it, a lost
 * owner, a container or service that was not ready, the decision of a person, or a lock that it did not get in time.
 */
export type FailureReason = 'exit' | 'signal' | 'timeout' | 'error' | 'lost' | 'unready' | 'rejected' | 'lock';

/**
 * The reason why a step waits: after an attempt for its next one, or for an approval; within an attempt for a lock, or for a
 * slot in the queue of its sub-workflow.
 */
export type WaitingFor = 'retry' | 'repeat' | 'approval' | BlockedBy;

/** What several runs share and have to wait for. */
export type BlockedBy = 'lock' | 'queue';

/**
 * What holds a lock: a step, or a run (`step` null) since `since`. `unknown`: the process in words, if it cannot be determined
 * whether it is alive.
 */
export type LockHolder = {
  readonly runId: string;
  readonly workflow: string;
  readonly step: string | null;
  readonly since: number;
  readonly unknown?: string;
};

/** How a person decided about a step. */
export type ApprovalAnswer = 'approved' | 'rejected';

/** The part of `continueOn` that tolerates a failure. */
export type ToleratedBy = 'failure' | 'exitCode' | 'output';

/** Values of `output` variables by name. */
export type Outputs = { readonly [name: string]: string };

/**
 * A file that an attempt kept: its path within the artifacts of its step, with `/` between names, its size, and the SHA-256
 * of its bytes in hexadecimal.
 */
export type KeptFile = { readonly path: string; readonly bytes: number; readonly sha256: string };

/** How an attempt ended. */
export type Ended = {
  /** Null if it did not fail. */
  readonly reason: FailureReason | null;
  /** One line of text ("exit 3", "killed by SIGSEGV"), empty if there is nothing to add. */
  readonly message: string;
  /** The program's own exit code, 128 + signal, 127 not found, 126 not executable; null if no process ran. */
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** The result of one attempt at one step. */
export type Outcome =
  | { readonly status: 'succeeded'; readonly exitCode: number | null; readonly outputs: Outputs }
  | (Ended & { readonly status: 'failed'; readonly reason: FailureReason; readonly outputs: Outputs })
  | { readonly status: 'skipped'; readonly message: string }
  | (Omit<Ended, 'reason'> & { readonly status: 'canceled' });

/** Facts of an attempt for the policies of its step, besides the outcome; only required ones are present. */
export type AttemptFacts = {
  /** Whether the condition of `repeatPolicy` is met. */
  readonly conditionMet?: boolean;
  /** Whether a line of the attempt's output matches `continueOn.output`. */
  readonly outputMatched?: boolean;
  /** The evaluated prompt of the step's approval. */
  readonly prompt?: string;
  /** A random number from 0 (inclusive) to 1 (exclusive), for the `jitter` of a wait. */
  readonly random?: number;
  /** The numbers of the step that variables gave; absent if one of them could not be evaluated. */
  readonly numbers?: readonly NumberValue[];
};

/**
 * The run whose result an up-to-date step has, and how long its attempt took there. `restored`: its files were restored, since it is
 * not the last success of the step.
 */
export type EarlierSuccess = { readonly from: string; readonly savedMs: number; readonly restored?: true };

/** Why a run is being ended early. */
export type CancelReason =
  | 'stop' // a user, a signal, the API
  | 'timeout' // the workflow's own limit
  | 'storage'; // the disk refused the journal or a large output

/** Why a run ended with its status; null if there is nothing to add to the status. */
export type RunReason = 'step' | 'handler' | 'precondition' | 'stop' | 'timeout' | 'storage' | 'lost' | 'error';

/** How a run ends. `message`: one line of text to go with `reason`; empty: nothing to add. */
export type RunEnd = { readonly status: FinishedStatus; readonly reason: RunReason | null; readonly message: string };

/** Identifies a process even after its pid was reused. */
export type ProcessIdentity = {
  readonly pid: number;
  /** In clock ticks since boot (field 22 of /proc/<pid>/stat); null if the system does not report it. */
  readonly startTime: number | null;
  /** The boot id; null if the system does not report it. */
  readonly boot: string | null;
  /**
   * The PID namespace that `pid` belongs to: a container has its own. Null if the system has none; absent in journals
   * of earlier versions.
   */
  readonly namespace?: string | null;
};

/** The container of an attempt; `image` as the step names it, null for one that was running already. */
export type ContainerRef = { readonly id: string; readonly image: string | null };

/** A process that runs a run. `machine`: an id that survives a reboot; null or absent if no reliable one exists. */
export type ProcessOwner = ProcessIdentity & { readonly host: string; readonly machine?: string | null };

/** A run of another engine: the address of that engine, and the id of the run there. */
export type EngineOwner = { readonly engine: string; readonly id: string };

/** What runs a run. */
export type Owner = ProcessOwner | EngineOwner;

/** The owner of a run in words. */
export function ownerName(owner: Owner): string {
  return 'engine' in owner ? `the engine ${owner.engine}` : `process ${owner.pid} on "${owner.host}"`;
}

/** Where the request for the run came from. `retry`: a daemon retries a failed run; `backfill`: it is for a past moment. */
export type Trigger = 'cli' | 'api' | 'schedule' | 'workflow' | 'retry' | 'backfill';

/**
 * A parameter of a run: given by the caller or evaluated from its default. `masked`: the stored value is masked in
 * whole or in part, because it is or contains a secret, and must not be used as a value.
 */
export type Param = {
  readonly name: string | null;
  readonly value: string;
  readonly masked?: true;
  /** Of a declared parameter of a prepared run. */
  readonly type?: ParamRule['type'];
};

/** A dotenv file that a run read, and the names of its variables. `option`: an option named it, not the workflow. */
export type DotenvUse = { readonly path: string; readonly names: readonly string[]; readonly option?: true };

/**
 * A step restored from the run being retried. It lets its dependents run whatever its status, and counts towards the
 * status of the new run as if it had ended in it.
 */
export type RestoredStep = {
  readonly step: string;
  readonly status: SettledStatus;
  readonly outputs: Outputs;
  /** What tolerated its failure; absent if nothing did. */
  readonly tolerated?: ToleratedBy;
  /** For a step that did not succeed: how it ended. Absent too if it was never settled. */
  readonly before?: EarlierEnd;
  /** Present if texts of the workflow refer to the result of the step. */
  readonly result?: EarlierResult;
  /** The prompt of an approval that was not answered: the step asks again, and only that. */
  readonly held?: string;
  /** For how long it asks, if a variable gave that; absent: as its step says. */
  readonly limitMs?: number;
  /** The artifacts of the step, which the new run has too; absent if it kept none. */
  readonly kept?: readonly KeptFile[];
};

/** The result of a step that ended in an earlier run. */
export type EarlierResult = {
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  /** The run of its sub-workflow, whose artifacts are those of the step. */
  readonly child?: string;
};

/**
 * An item of a fan-out, and the key that names its instance. `masked`: the stored value is masked, because it contains a
 * secret, and must not be used as a value.
 */
export type Item = { readonly key: string; readonly value: ItemValue; readonly masked?: true };

/**
 * A fan-out with the items of the run being retried, and those of its instances that are restored. The others run,
 * unless the step itself is restored after it.
 */
export type RestoredItems = OfStep & Expanded & { readonly instances: readonly RestoredStep[] };

/** The results kept by a retry, in an order that `start` can record. */
export type Restored = RestoredStep | RestoredItems;

/** How a step ended in an earlier run, which has its logs. */
export type EarlierEnd = Ended & { readonly runId: string };

type OfStep = { readonly step: string };
type OfAttempt = OfStep & { readonly attempt: number };

type Started = {
  readonly process: ProcessIdentity | null;
  /** The id of the sub-run that the attempt started. */
  readonly child?: string;
  /** The workflow of the sub-run, if variables of the step name it. */
  readonly childWorkflow?: string;
  /** The worker of an engine that makes the attempt; absent without an engine. */
  readonly worker?: string;
};

/** The lock or queue that an attempt or a run waits for, and what holds it; `holder` null: it is unknown. */
type Blocked = { readonly why: BlockedBy; readonly name: string; readonly holder: LockHolder | null };

/** The container of an attempt, and the address of its Docker daemon. */
type Contained = { readonly container: ContainerRef; readonly daemon: string };

/** `maxConcurrent`: present if a variable gave it. */
type Expanded = { readonly items: readonly Item[]; readonly maxConcurrent?: number };

/** `force`: kill at once and start nothing more, not even handlers. */
type Canceled = { readonly reason: CancelReason; readonly message: string; readonly force: boolean };

/** An answer to an approval. `by` null: no person answered. */
type Answered = { readonly by: string | null; readonly comment: string; readonly inputs: Outputs };

/** How the user `by` marks that a step ended. */
type Marked = { readonly status: MarkedStatus; readonly by: string };

/** The fields of each type of input. */
type InputFields = {
  start: { readonly restored: readonly Restored[] };
  /** Instead of `start`: the workflow's precondition is not met, or its environment cannot be evaluated. */
  refuse: { readonly reason: Extract<RunReason, 'precondition' | 'error'>; readonly message: string };
  'attempt-started': OfAttempt & Started;
  /** The attempt waits for others, before it starts. `report`: the number of this report of the attempt, from 1. */
  'attempt-blocked': OfAttempt & Blocked & { readonly report: number };
  /** The wait has ended. `report`: the number of its last `attempt-blocked`. */
  'attempt-acquired': OfAttempt & { readonly report: number };
  'attempt-contained': OfAttempt & Contained;
  /** The service that the attempt started is ready. */
  'attempt-serving': OfAttempt;
  /** Instead of `attempt-ended`: the attempt has evaluated the items of its fan-out. */
  'items-read': OfAttempt & Expanded;
  /** The step is not up to date, before it starts. */
  'attempt-checked': OfAttempt & StaleReasons;
  /** `kept`: the artifacts of the attempt; absent if it kept none. `upToDate`: the step did not have to run. */
  'attempt-ended': OfAttempt & {
    readonly outcome: Outcome;
    readonly facts?: AttemptFacts;
    readonly kept?: readonly KeptFile[];
    readonly upToDate?: EarlierSuccess;
  };
  /** The time of a `step.waiting` or `step.held` has come. */
  'timer-fired': OfAttempt;
  /** The time of a `run.delayed` has come. */
  'delay-over': unknown;
  /** The time has come at which the step, or the run if it is null, is late. */
  'late-due': { readonly step: string | null };
  cancel: Canceled;
  /** As a person or the command that runs the run decided. */
  answer: OfStep & Answered & { readonly decision: ApprovalAnswer };
  /** The process that ran the run has died and its attempts have ended; reported by the process that noticed. */
  lost: { readonly message: string };
  /** The only input for a finished run. */
  mark: OfStep & Marked;
};

/** The moment for which a run was started, such as that of its schedule. */
export type ScheduledMoment = {
  readonly scheduledFor: number;
  /** The last earlier moment whose run succeeded; absent if there is none. */
  readonly previousFor?: number;
};

/** What is known of a run when it is created. */
export type RunCreated = Partial<ScheduledMoment> & {
  readonly runId: string;
  readonly workflow: string;
  readonly group: string;
  readonly file: string | null;
  readonly trigger: Trigger;
  readonly retryOf: string | null;
  /** The backfill that the run is part of; absent: none. */
  readonly backfill?: string;
  /** As given by the caller, before the file's defaults. */
  readonly params: readonly Param[];
  /** Failures tolerated by `continueOn.failure` fail the run; absent if they do not. */
  readonly strict?: true;
  readonly dotenv?: readonly DotenvUse[];
  /** The part of the workflow that the run is to run; absent: all of it. */
  readonly selection?: StepSelection;
  readonly tags?: readonly string[];
  /** The queue of the workflow; absent: none, or the run is part of another run of the queue. */
  readonly queue?: string;
  /** Maximum number of runs of the workflow under a daemon at a time; absent: no limit. */
  readonly maxConcurrent?: number;
  /** Of a run that a daemon retries if it fails; `n`: the number of this retry, 0 for the first run. */
  readonly autoRetry?: RunRetryPolicy & { readonly n: number };
  /** The time at which a scheduled run is late unless it has started (`late.after`); absent: none. */
  readonly startBy?: number;
  /** The time at which it is late unless it has ended (`late.by`); absent: none. */
  readonly lateBy?: number;
};

/** The fields of each type of event. `masked`: names of the outputs or inputs that are or contain secrets. */
type EventFields = {
  'run.created': RunCreated;
  /**
   * The run waits for a process to own it; `by` has promised to start one. `lasting`: the promise outlives `by`, since
   * its successor (the next daemon) keeps it. A second `run.queued` follows `run.owned` if that process died before
   * the run started.
   */
  'run.queued': { readonly by: ProcessOwner; readonly lasting: boolean };
  'run.owned': { readonly owner: Owner };
  /** Parameters as the steps see them, and the numbers that variables gave. Comes before `run.started`. */
  'run.prepared': { readonly params: readonly Param[]; readonly numbers?: readonly NumberValue<RunNumberKey>[] };
  /** The run waits for a lock or its queue, before it starts. */
  'run.blocked': Blocked;
  'run.started': unknown;
  /** The run has not ended, or not even started, when it should have; at most once. It continues. */
  'run.late': unknown;
  /** The step has not ended when it should have; at most once. It continues. */
  'step.late': OfStep;
  'step.restored': Omit<RestoredStep, 'held' | 'limitMs' | 'kept'> & { readonly masked?: readonly string[] };
  /** Tells the engine to start this attempt. */
  'step.scheduled': OfAttempt;
  /** The attempt waits, and takes no place of `maxActiveSteps` meanwhile. Repeated if the holder changes. */
  'step.blocked': OfAttempt & Blocked;
  /** The attempt has what it waited for, and continues even beyond `maxActiveSteps`. */
  'step.acquired': OfAttempt;
  /** The step is not up to date: the attempt that follows runs it. */
  'step.outdated': OfAttempt & StaleReasons;
  'step.started': OfAttempt & Started;
  /** The container may outlive the owner of the run. */
  'step.contained': OfAttempt & Contained;
  /** A service is ready: its dependents may start, and it takes no place of `maxActiveSteps`. */
  'step.serving': OfAttempt;
  /** Tells the engine to end a service that no step needs any more. */
  'step.ending': OfAttempt;
  /** The step has these instances, which end it. `attempt`: 0 for items taken over from the run being retried. */
  'step.expanded': OfAttempt & Expanded;
  /** Tells the engine to end all attempts of this fan-out after one instance failed. */
  'step.canceling': OfStep & { readonly message: string };
  /**
   * The attempt that ends now kept this file; the files of earlier attempts at the step are gone. `attempt`: 0 for a file
   * that was taken over from the run being retried.
   */
  'artifact.kept': OfAttempt & KeptFile;
  /** Tells the engine to set a timer. `attempt` is the one that has just ended, with `outcome`. */
  'step.waiting': OfAttempt & {
    readonly why: 'retry' | 'repeat';
    readonly until: number;
    readonly outcome: Outcome;
    /** What tolerated the failure of the repetition; absent if nothing did. */
    readonly tolerated?: ToleratedBy;
  };
  'step.ready': OfStep;
  /**
   * The work of the step is done, and the step waits for a person. Its end is that of the last attempt; `attempt` is 0 if
   * that was made in the run being retried. Tells the engine to set a timer, unless `until` is null.
   */
  'step.held': OfAttempt &
    Ended & {
      readonly outputs: Outputs;
      readonly masked?: readonly string[];
      readonly tolerated?: ToleratedBy;
      /** For the person who decides; empty if the step has none. */
      readonly prompt: string;
      /** When the approval times out; null: never. */
      readonly until: number | null;
    };
  /** Followed by `step.finished`. */
  'step.answered': OfStep & Answered & { readonly answer: ApprovalAnswer; readonly masked?: readonly string[] };
  /**
   * `attempt`: 0 if none was made. `cached`: the step is up to date, so that it has the outputs of its last success, in the run
   * `from`.
   */
  'step.finished': OfAttempt &
    Ended &
    Partial<EarlierSuccess> & {
      readonly cached?: true;
      readonly status: SettledStatus;
      readonly outputs: Outputs;
      readonly masked?: readonly string[];
      /**
       * What tolerated the failure of the last attempt. Absent if nothing did, and in journals of versions without
       * `exitCode` and `output`, where `continueOn.failure` of the step tells it.
       */
      readonly tolerated?: ToleratedBy;
    };
  /** Follows the end of the run, whose status is then `run`. */
  'step.marked': OfStep & Marked & { readonly run: RunEnd };
  /** Tells the engine to set a timer (`delaySec`): no step starts before `until`. */
  'run.delayed': { readonly until: number };
  /** Tells the engine to end all running attempts. */
  'run.canceling': Canceled;
  /** All steps are settled; handlers follow. `status` is final unless a handler fails or is canceled. */
  'run.handling': Omit<RunEnd, 'message'> & { readonly handlers: readonly HandlerKind[] };
  /**
   * A problem that changes no outcome but must be recorded: a log that cannot be written, a mail that cannot be sent.
   * Like `step.marked`, it may come after `run.finished`.
   */
  'run.warned': {
    readonly step: string | null;
    readonly message: string;
    /** The system clock was set by this many milliseconds: the start of what still runs is counted in its new time. */
    readonly clockSetMs?: number;
  };
  'run.finished': RunEnd;
};

type Tagged<Fields> = {
  [Type in keyof Fields]: { readonly type: Type; readonly at: number } & Fields[Type];
}[keyof Fields];

/** Inputs of a run. A report about an attempt carries the attempt's number, so that a late report changes nothing. */
export type RunInput = Tagged<InputFields>;

/** An event of a run. Events are written to the journal, sent to every watcher, and cause the effects of the engine. */
export type RunEvent = Tagged<EventFields>;

/** An event with its sequence number in the journal, from 1. */
export type StoredEvent = RunEvent & { readonly seq: number };
