import type { HandlerKind } from '../workflow.ts';

/**
 * The vocabulary of a run: what the outside tells it (`RunInput`), what happened (`RunEvent`), how one attempt ended
 * (`Outcome`). Plain JSON throughout; `at` and `until` are milliseconds since 1970-01-01 UTC.
 *
 *   step:  pending -> scheduled -> running -> (waiting -> scheduled ->) succeeded | failed | skipped | canceled
 *          pending -> skipped | canceled | upstream_failed
 *   run:   queued -> running -> (canceling ->) (handling ->) succeeded | partially_succeeded | failed | canceled | skipped
 *
 * A handler goes through the same states as a step, under the name `handlerOn.<kind>`.
 */

/** Every status that a step or handler can have. */
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

/** Every status that a run can have. */
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

/** A step's status once nothing more happens to it. */
export type SettledStatus = Extract<StepStatus, 'succeeded' | 'failed' | 'skipped' | 'canceled' | 'upstream_failed'>;
/** A run's status once it is over. */
export type FinishedStatus = Extract<
  RunStatus,
  'succeeded' | 'partially_succeeded' | 'failed' | 'canceled' | 'skipped'
>;

/** How a person can say that a step of a finished run ended. */
export type MarkedStatus = Extract<SettledStatus, 'succeeded' | 'failed'>;

/** Why an attempt failed: its exit code, a signal from outside, its time limit, anything before or around it, a lost owner. */
export type FailureReason = 'exit' | 'signal' | 'timeout' | 'error' | 'lost';

/** Values of `output` variables by name. */
export type Outputs = { readonly [name: string]: string };

/** How one attempt at one step ended. `message` is one line for a person ("exit 3", "killed by SIGSEGV"). */
export type Outcome =
  | { readonly status: 'succeeded'; readonly exitCode: number | null; readonly outputs: Outputs }
  | {
      readonly status: 'failed';
      readonly reason: FailureReason;
      readonly message: string;
      /** Exact: the program's own, 128 + signal, 127 not found, 126 not executable; null where no process ran. */
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

/** Why a run is being ended early. */
export type CancelReason =
  | 'stop' // a person, a signal, the API
  | 'timeout' // the workflow's own limit
  | 'storage'; // the journal cannot be written any more

/** Why a run ended as it did; null when there is nothing to add to its status. */
export type RunReason = 'step' | 'handler' | 'precondition' | 'stop' | 'timeout' | 'storage' | 'lost' | 'error';

/** A process as it can be told from any other that gets its number later. */
export type ProcessIdentity = {
  readonly pid: number;
  /** In clock ticks since boot (field 22 of /proc/<pid>/stat); null where the system does not tell. */
  readonly startTime: number | null;
  /** The boot's id; null where the system does not tell. */
  readonly boot: string | null;
  /**
   * The namespace in which `pid` counts: a container has one of its own. Null where the system has none; absent in what
   * earlier versions have written.
   */
  readonly namespace?: string | null;
};

/** The process that runs a run. `machine`: an id that survives a reboot; null or absent where none is reliable. */
export type Owner = ProcessIdentity & { readonly host: string; readonly machine?: string | null };

/** Who asked for the run. */
export type Trigger = 'cli' | 'api' | 'schedule' | 'workflow';

/**
 * A parameter as it counts for a run: given by the caller or evaluated from its default. `masked`: the value is not told,
 * or not in full, because it is or holds a secret; it must not be used as one.
 */
export type Param = { readonly name: string | null; readonly value: string; readonly masked?: true };

/**
 * A step that is taken over from the run that is retried, as it ended there. It lets its dependents run, whatever its
 * status, and counts for the end of the new run as if it had ended in it.
 */
export type RestoredStep = {
  readonly step: string;
  readonly status: SettledStatus;
  readonly outputs: Outputs;
  /** Of one that did not succeed: how it came to that. Absent too where it was never settled. */
  readonly before?: EarlierEnd;
};

/** How a step ended in an earlier run, which is the one that has its logs. */
export type EarlierEnd = {
  readonly runId: string;
  readonly reason: FailureReason | null;
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** What the outside tells a run. Reports about an attempt carry its number, so that a late one changes nothing. */
export type RunInput =
  | { readonly type: 'start'; readonly at: number; readonly restored: readonly RestoredStep[] }
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
      /** The id of the run of another workflow that carries the attempt out. */
      readonly child?: string;
    }
  | {
      readonly type: 'attempt-ended';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly outcome: Outcome;
    }
  /** The time of a `step.waiting` (then with `step` and `attempt`) or of a `run.delayed` has come. */
  | { readonly type: 'timer-fired'; readonly at: number; readonly step: string; readonly attempt: number }
  | { readonly type: 'delay-over'; readonly at: number }
  /** `force`: kill at once, start nothing more, not even handlers. */
  | {
      readonly type: 'cancel';
      readonly at: number;
      readonly reason: CancelReason;
      readonly message: string;
      readonly force: boolean;
    }
  /** The process that ran the run has died and its attempts are over; told by whoever found out. */
  | { readonly type: 'lost'; readonly at: number; readonly message: string }
  /** The one input for a run that is over: a person says how a step ended. */
  | {
      readonly type: 'mark';
      readonly at: number;
      readonly step: string;
      readonly status: MarkedStatus;
      readonly by: string;
    };

/** What happened. These are the journal, the feed of every watcher, and what tells the engine what to do. */
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
      /** Failures that `continueOn.failure` tolerates fail the run; absent where they do not. */
      readonly strict?: true;
    }
  /**
   * The run waits for a process that carries it out; `by` has promised to start one. `lasting`: the promise outlives `by`,
   * since whoever takes its place (the next daemon) keeps it. A second one follows `run.owned` when that process died before
   * the run started.
   */
  | { readonly type: 'run.queued'; readonly at: number; readonly by: Owner; readonly lasting: boolean }
  | { readonly type: 'run.owned'; readonly at: number; readonly owner: Owner }
  /** What the steps see: given parameters and evaluated defaults. Comes before `run.started`. */
  | { readonly type: 'run.prepared'; readonly at: number; readonly params: readonly Param[] }
  | { readonly type: 'run.started'; readonly at: number }
  | {
      readonly type: 'step.restored';
      readonly at: number;
      readonly step: string;
      readonly status: RestoredStep['status'];
      readonly outputs: Outputs;
      /** Names of the outputs whose values are not told because they are or hold secrets. */
      readonly masked?: readonly string[];
      readonly before?: EarlierEnd;
    }
  /** For the engine: start this attempt. */
  | { readonly type: 'step.scheduled'; readonly at: number; readonly step: string; readonly attempt: number }
  | {
      readonly type: 'step.started';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly process: ProcessIdentity | null;
      /** The id of the run of another workflow that carries the attempt out; absent where no run does. */
      readonly child?: string;
    }
  /** For the engine: set a timer. `attempt` is the one that has just ended, with `outcome`. */
  | {
      readonly type: 'step.waiting';
      readonly at: number;
      readonly step: string;
      readonly attempt: number;
      readonly why: 'retry' | 'repeat';
      readonly until: number;
      readonly outcome: Outcome;
    }
  | { readonly type: 'step.ready'; readonly at: number; readonly step: string }
  | {
      readonly type: 'step.finished';
      readonly at: number;
      readonly step: string;
      /** 0 when no attempt was made. */
      readonly attempt: number;
      readonly status: SettledStatus;
      readonly reason: FailureReason | null;
      /** One line for a person; empty when there is nothing to say. */
      readonly message: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly outputs: Outputs;
      /** Names of the outputs whose values are not told because they are or hold secrets. */
      readonly masked?: readonly string[];
    }
  /**
   * After the end: a person says how a step ended. `run` is what that makes of the run as a whole. `by` tells who, for a
   * person to read.
   */
  | {
      readonly type: 'step.marked';
      readonly at: number;
      readonly step: string;
      readonly status: MarkedStatus;
      readonly by: string;
      readonly run: { readonly status: FinishedStatus; readonly reason: RunReason | null; readonly message: string };
    }
  /** For the engine: no step starts before `until`; set a timer (`delaySec`). */
  | { readonly type: 'run.delayed'; readonly at: number; readonly until: number }
  /** For the engine: end every running attempt. */
  | {
      readonly type: 'run.canceling';
      readonly at: number;
      readonly reason: CancelReason;
      readonly message: string;
      readonly force: boolean;
    }
  /** All steps are settled; handlers follow. `status` is what the run ends with unless a handler fails or is canceled. */
  | {
      readonly type: 'run.handling';
      readonly at: number;
      readonly status: FinishedStatus;
      readonly reason: RunReason | null;
      readonly handlers: readonly HandlerKind[];
    }
  /**
   * Something that changes no outcome but must not be lost: a log that cannot be written, a mail that cannot be sent. The
   * one kind besides `step.marked` that may also come after `run.finished`.
   */
  | { readonly type: 'run.warned'; readonly at: number; readonly step: string | null; readonly message: string }
  | {
      readonly type: 'run.finished';
      readonly at: number;
      readonly status: FinishedStatus;
      readonly reason: RunReason | null;
      readonly message: string;
    };

/** An event with its place in the journal, from 1. */
export type StoredEvent = RunEvent & { readonly seq: number };
