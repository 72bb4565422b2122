import type { StepSelection } from '../graph.ts';
import type { HandlerKind, ItemValue, NumberValue, ParamRule, RunNumberKey, RunRetryPolicy } from '../workflow.ts';

/**
 * The vocabulary of a run: its inputs (`RunInput`), its events (`RunEvent`) and the outcome of one attempt (`Outcome`).
 * Plain JSON throughout; `at` and `until` are milliseconds since 1970-01-01 UTC.
 *
 *   step:  pending -> scheduled -> running -> (waiting -> scheduled ->) succeeded | failed | skipped | canceled
 *          pending -> skipped | canceled | upstream_failed
 *          running -> waiting -> succeeded | failed | canceled (for an approval)
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
export type SettledStatus = Extract<StepStatus, 'succeeded' | 'failed' | 'skipped' | 'canceled' | 'upstream_failed'>;
/** Final statuses of a run. */
export type FinishedStatus = Extract<
  RunStatus,
  'succeeded' | 'partially_succeeded' | 'failed' | 'canceled' | 'skipped'
>;

/** Statuses that a user can give to a step of a finished run. */
export type MarkedStatus = Extract<SettledStatus, 'succeeded' | 'failed'>;

/**
 * Why an attempt failed: its exit code, a signal from outside, its time limit, an error before or around it, a lost
 * owner, a container or service that was not ready, or the decision of a person.
 */
export type FailureReason = 'exit' | 'signal' | 'timeout' | 'error' | 'lost' | 'unready' | 'rejected';

/** The reason why a step waits after an attempt: for its next one, or for an approval. */
export type WaitingFor = 'retry' | 'repeat' | 'approval';

/** How a person decided about a step. */
export type ApprovalAnswer = 'approved' | 'rejected';

/** The part of `continueOn` that tolerates a failure. */
export type ToleratedBy = 'failure' | 'exitCode' | 'output';

/** Values of `output` variables by name. */
export type Outputs = { readonly [name: string]: string };

/** How one attempt at one step ended. `message` is one line of text ("exit 3", "killed by SIGSEGV"). */
export type Outcome =
  | { readonly status: 'succeeded'; readonly exitCode: number | null; readonly outputs: Outputs }
  | {
      readonly status: 'failed';
      readonly reason: FailureReason;
      readonly message: string;
      /** The program's own exit code, 128 + signal, 127 not found, 126 not executable; null if no process ran. */
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly outputs: Outputs;
    }
  | { readonly status: 'skipped'; readonly message: string }
  | {
      readonly status: 'canceled';
      readonly message: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
    };

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

/** Why a run is being ended early. */
export type CancelReason =
  | 'stop' // a user, a signal, the API
  | 'timeout' // the workflow's own limit
  | 'storage'; // the disk refused the journal or a large output

/** Why a run ended with its status; null if there is nothing to add to the status. */
export type RunReason = 'step' | 'handler' | 'precondition' | 'stop' | 'timeout' | 'storage' | 'lost' | 'error';

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

/** The process that runs a run. `machine`: an id that survives a reboot; null or absent if no reliable one exists. */
export type Owner = ProcessIdentity & { readonly host: string; readonly machine?: string | null };

/** Where the request for the run came from. `retry`: a daemon retries a failed run. */
export type Trigger = 'cli' | 'api' | 'schedule' | 'workflow' | 'retry';

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
};

/** The result of a step that ended in an earlier run. */
export type EarlierResult = {
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
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
export type RestoredItems = {
  readonly step: string;
  readonly items: readonly Item[];
  readonly maxConcurrent?: number;
  readonly instances: readonly RestoredStep[];
};

/** The results kept by a retry, in an order that `start` can record. */
export type Restored = RestoredStep | RestoredItems;

/** How a step ended in an earlier run, which has its logs. */
export type EarlierEnd = {
  readonly runId: string;
  readonly reason: FailureReason | null;
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** Inputs of a run. A report about an attempt carries the attempt's number, so that a late report changes nothing. */
export type RunInput =
  | { readonly type: 'start'; readonly at: number; readonly restored: readonly Restored[] }
  /** Instead of `start`: the workflow's precondition is not met, or its environment cannot be evaluated. */
  | {
      readonly type: 'refuse';
      readonly at: number;
      readonly reason: Extract<RunReason, 'precondition' | 'error'>;
      readonly message: string;
    }
  | {
      readonly type: 'attempt-started';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly process: ProcessIdentity | null;
      /** The id of the sub-run that the attempt started. */
      readonly child?: string;
      /** Its workflow, where variables of the step name it. */
      readonly childWorkflow?: string;
    }
  /** The attempt runs in a container of the Docker daemon at this address. */
  | {
      readonly type: 'attempt-contained';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly container: ContainerRef;
      readonly daemon: string;
    }
  /** The service that the attempt started is ready. */
  | { readonly type: 'attempt-serving'; readonly at: number; readonly step: string; readonly attempt: number }
  /** Instead of `attempt-ended`: the attempt has evaluated the items of its fan-out. */
  | {
      readonly type: 'items-read';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly items: readonly Item[];
      readonly maxConcurrent?: number;
    }
  | {
      readonly type: 'attempt-ended';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly outcome: Outcome;
      readonly facts?: AttemptFacts;
    }
  /** The time of a `step.waiting` or `step.held` (then with `step` and `attempt`) or of a `run.delayed` has come. */
  | { readonly type: 'timer-fired'; readonly at: number; readonly step: string; readonly attempt: number }
  | { readonly type: 'delay-over'; readonly at: number }
  /** `force`: kill at once and start nothing more, not even handlers. */
  | {
      readonly type: 'cancel';
      readonly at: number;
      readonly reason: CancelReason;
      readonly message: string;
      readonly force: boolean;
    }
  /** Answers an approval, as a person or the command that runs the run decided. `by` null: no person did. */
  | {
      readonly type: 'answer';
      readonly at: number;
      readonly step: string;
      readonly decision: ApprovalAnswer;
      readonly by: string | null;
      readonly comment: string;
      readonly inputs: Outputs;
    }
  /** The process that ran the run has died and its attempts have ended; reported by the process that noticed. */
  | { readonly type: 'lost'; readonly at: number; readonly message: string }
  /** The only input for a finished run: a user marks how a step ended. */
  | {
      readonly type: 'mark';
      readonly at: number;
      readonly step: string;
      readonly status: MarkedStatus;
      readonly by: string;
    };

/** An event of a run. Events are written to the journal, sent to every watcher, and cause the effects of the engine. */
export type RunEvent =
  | {
      readonly type: 'run.created';
      readonly at: number;
      readonly runId: string;
      readonly workflow: string;
      readonly group: string;
      readonly file: string | null;
      readonly trigger: Trigger;
      readonly retryOf: string | null;
      /** As given by the caller, before the file's defaults. */
      readonly params: readonly Param[];
      /** Failures tolerated by `continueOn.failure` fail the run; absent if they do not. */
      readonly strict?: true;
      /** Absent if the run read none. */
      readonly dotenv?: readonly DotenvUse[];
      /** The part of the workflow that the run is to run; absent: all of it. */
      readonly selection?: StepSelection;
      /** The tags of the workflow; absent: none. */
      readonly tags?: readonly string[];
      /** The queue of the workflow; absent: none, as for sub-workflows. */
      readonly queue?: string;
      /** Maximum number of runs of the workflow under a daemon at a time; absent: no limit. */
      readonly maxConcurrent?: number;
      /** Of a run that a daemon retries if it fails; `n`: the number of this retry, 0 for the first run. */
      readonly autoRetry?: RunRetryPolicy & { readonly n: number };
    }
  /**
   * The run waits for a process to own it; `by` has promised to start one. `lasting`: the promise outlives `by`, since
   * its successor (the next daemon) keeps it. A second `run.queued` follows `run.owned` if that process died before
   * the run started.
   */
  | { readonly type: 'run.queued'; readonly at: number; readonly by: Owner; readonly lasting: boolean }
  | { readonly type: 'run.owned'; readonly at: number; readonly owner: Owner }
  /** Parameters as the steps see them: those given and evaluated defaults. Comes before `run.started`. */
  | {
      readonly type: 'run.prepared';
      readonly at: number;
      readonly params: readonly Param[];
      /** Numbers of the workflow that variables gave; absent if none did. */
      readonly numbers?: readonly NumberValue<RunNumberKey>[];
    }
  | { readonly type: 'run.started'; readonly at: number }
  | {
      readonly type: 'step.restored';
      readonly at: number;
      readonly step: string;
      readonly status: RestoredStep['status'];
      readonly outputs: Outputs;
      /** Names of the outputs whose values are masked because they are or contain secrets. */
      readonly masked?: readonly string[];
      readonly tolerated?: ToleratedBy;
      readonly before?: EarlierEnd;
      readonly result?: EarlierResult;
    }
  /** Tells the engine to start this attempt. */
  | { readonly type: 'step.scheduled'; readonly at: number; readonly step: string; readonly attempt: number }
  | {
      readonly type: 'step.started';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly process: ProcessIdentity | null;
      /** The id of the sub-run that the attempt started; absent if it started none. */
      readonly child?: string;
      /** The workflow of the sub-run, as variables of the step name it; absent if the file names it. */
      readonly childWorkflow?: string;
    }
  /** The attempt runs in a container of the Docker daemon at this address, which may outlive the owner of the run. */
  | {
      readonly type: 'step.contained';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly container: ContainerRef;
      readonly daemon: string;
    }
  /** A service is ready: its dependents may start, and it takes no place of `maxActiveSteps`. */
  | { readonly type: 'step.serving'; readonly at: number; readonly step: string; readonly attempt: number }
  /** Tells the engine to end a service that no step needs any more. */
  | { readonly type: 'step.ending'; readonly at: number; readonly step: string; readonly attempt: number }
  /** The step has these instances, which end it. `attempt`: 0 for items taken over from the run being retried. */
  | {
      readonly type: 'step.expanded';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly items: readonly Item[];
      /** Present if a variable gave it. */
      readonly maxConcurrent?: number;
    }
  /** Tells the engine to end all attempts of this fan-out after one instance failed. */
  | { readonly type: 'step.canceling'; readonly at: number; readonly step: string; readonly message: string }
  /** Tells the engine to set a timer. `attempt` is the one that has just ended, with `outcome`. */
  | {
      readonly type: 'step.waiting';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly why: 'retry' | 'repeat';
      readonly until: number;
      readonly outcome: Outcome;
      /** What tolerated the failure of the repetition; absent if nothing did. */
      readonly tolerated?: ToleratedBy;
    }
  | { readonly type: 'step.ready'; readonly at: number; readonly step: string }
  /**
   * The work of the step is done, and the step waits for a person. Its end is that of the last attempt; `attempt` is 0 if
   * that was made in the run being retried. Tells the engine to set a timer, unless `until` is null.
   */
  | {
      readonly type: 'step.held';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly reason: FailureReason | null;
      readonly message: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly outputs: Outputs;
      readonly masked?: readonly string[];
      readonly tolerated?: ToleratedBy;
      /** For the person who decides; empty if the step has none. */
      readonly prompt: string;
      /** When the approval times out; null: never. */
      readonly until: number | null;
    }
  /** Followed by `step.finished`. `by` null: no person answered. */
  | {
      readonly type: 'step.answered';
      readonly at: number;
      readonly step: string;
      readonly answer: ApprovalAnswer;
      readonly by: string | null;
      readonly comment: string;
      readonly inputs: Outputs;
      /** Names of the inputs whose values are masked. */
      readonly masked?: readonly string[];
    }
  | {
      readonly type: 'step.finished';
      readonly at: number;
      readonly step: string;
      /** 0 if no attempt was made. */
      readonly attempt: number;
      readonly status: SettledStatus;
      readonly reason: FailureReason | null;
      /** One line of text, empty if there is nothing to add. */
      readonly message: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly outputs: Outputs;
      /** Names of the outputs whose values are masked because they are or contain secrets. */
      readonly masked?: readonly string[];
      /**
       * What tolerated the failure of the last attempt. Absent if nothing did, and in journals of versions without
       * `exitCode` and `output`, where `continueOn.failure` of the step tells it.
       */
      readonly tolerated?: ToleratedBy;
    }
  /**
   * Follows the end of the run: a user marked how a step ended. `run` is the resulting status of the run; `by` names
   * the user.
   */
  | {
      readonly type: 'step.marked';
      readonly at: number;
      readonly step: string;
      readonly status: MarkedStatus;
      readonly by: string;
      readonly run: { readonly status: FinishedStatus; readonly reason: RunReason | null; readonly message: string };
    }
  /** Tells the engine to set a timer (`delaySec`): no step starts before `until`. */
  | { readonly type: 'run.delayed'; readonly at: number; readonly until: number }
  /** Tells the engine to end all running attempts. */
  | {
      readonly type: 'run.canceling';
      readonly at: number;
      readonly reason: CancelReason;
      readonly message: string;
      readonly force: boolean;
    }
  /** All steps are settled; handlers follow. `status` is final unless a handler fails or is canceled. */
  | {
      readonly type: 'run.handling';
      readonly at: number;
      readonly status: FinishedStatus;
      readonly reason: RunReason | null;
      readonly handlers: readonly HandlerKind[];
    }
  /**
   * A problem that changes no outcome but must be recorded: a log that cannot be written, a mail that cannot be sent.
   * Like `step.marked`, it may come after `run.finished`.
   */
  | {
      readonly type: 'run.warned';
      readonly at: number;
      readonly step: string | null;
      readonly message: string;
      /** The system clock was set by this many milliseconds: the start of what still runs is counted in its new time. */
      readonly clockSetMs?: number;
    }
  | {
      readonly type: 'run.finished';
      readonly at: number;
      readonly status: FinishedStatus;
      readonly reason: RunReason | null;
      readonly message: string;
    };

/** An event with its sequence number in the journal, from 1. */
export type StoredEvent = RunEvent & { readonly seq: number };
