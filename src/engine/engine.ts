import type { StepSelection } from '#core/graph.ts';
import type {
  CancelReason,
  DotenvUse,
  FinishedStatus,
  Param,
  ProcessIdentity,
  Restored,
  RunCreated,
  RunInput,
  ScheduledMoment,
  SettledStatus,
  StoredEvent,
  Trigger,
} from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { Secrets } from '#core/secrets/secrets.ts';
import type { Lock, Step, Template, Workflow } from '#core/workflow.ts';
import type { Source } from '#language/diagnostic.ts';
import type { RunLogs, StoredLogs } from '#store/logs.ts';
import type { AnswerRequest, OwnerVerdict, RunJournal, StoredArtifacts } from '#store/store.ts';

/** Everything the engine needs to run a workflow. */
export type RunRequest = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
  /** As given by the caller: plain data, never evaluated. */
  readonly params: readonly Param[];
  /** Absent if neither the workflow nor the caller names a dotenv file. */
  readonly dotenv?: DotenvRead;
  readonly trigger: Trigger;
  readonly retryOf: string | null;
  /** The backfill that the run is part of; absent: none. */
  readonly backfill?: string;
  /** The moment for which the run was started; absent: none. */
  readonly moment?: ScheduledMoment;
  /** When it is late; absent: only its own duration counts. */
  readonly latest?: Pick<RunCreated, 'startBy' | 'lateBy'>;
  /** The number of a retry by a daemon, from 1; absent for any other run. */
  readonly retryNumber?: number;
  readonly restored: readonly Restored[];
  /** The part of the workflow to run; absent: all of it. */
  readonly selection?: StepSelection;
  /** Files of the workflows that run this one as a sub-workflow, outermost first. */
  readonly ancestors: readonly string[];
  /** The queues of those workflows, in which this run needs no slot of its own; absent: child runs need none in any. */
  readonly queues?: readonly string[];
  /** The locks of those runs, and of their steps that run this one. */
  readonly outerLocks?: readonly OuterLock[];
  /** Failures that `continueOn.failure` tolerates still fail the run and its sub-workflows. */
  readonly strict?: boolean;
  /** Steps that run even if they are up to date, by their names; `all`: those of its sub-workflows too. Absent: none. */
  readonly force?: 'all' | readonly string[];
  /** Steps that have the result of their last success, whatever has changed since, by their names; absent: none. */
  readonly assumed?: readonly string[];
  /** Steps restore no earlier success, and none is kept for others: neither of this run nor of its sub-workflows. */
  readonly isUncached?: true;
  /** How steps that ask for an approval are answered; absent: they wait for a person. */
  readonly onApproval?: 'reject' | 'approve';
  /** Whether the run of the workflow before it failed, for an engine, whose workers have no history; absent: no. */
  readonly failedBefore?: boolean;
  /** The time of the parent run between a stop and a kill. */
  readonly parentGraceMs?: number;
  /** The workflows that its steps run, for an engine whose workers lack their files; absent: they are read when needed. */
  readonly known?: KnownWorkflows;
};

/** A workflow of a file, as it was when it was read. */
export type ChildWorkflow = Pick<RunRequest, 'workflow' | 'sources' | 'dotenv' | 'failedBefore'>;

/**
 * What the steps of a run may run, read before it starts. `names`: by the file of the workflow that runs others and by the
 * name in `run`, the file that is run, or why it could not be read. `workflows`: by their files. `retries`: the earlier child
 * runs of steps, in a retry; absent: there are none.
 */
export type KnownWorkflows = {
  readonly names: {
    readonly [parent: string]: { readonly [run: string]: string | { readonly problem: string } };
  };
  readonly workflows: { readonly [file: string]: ChildWorkflow };
  readonly retries?: ChildRetries;
};

/** By the names of steps. */
export type ChildRetries = { readonly [step: string]: KnownRetry };

/** An earlier child run: what is retried if its workflow and parameters are the same, and its own child runs. */
export type KnownRetry = Pick<RunCreated, 'file' | 'workflow' | 'params'> & {
  readonly retryOf: string;
  readonly restored: readonly Restored[];
  readonly retries: ChildRetries;
};

/** The dotenv files of a run as they were when it was requested. */
export type DotenvRead = {
  /** Override the environment of the process. */
  readonly variables: Readonly<Record<string, string>>;
  readonly files: readonly DotenvUse[];
  /** Paths of files that do not exist and are not required. */
  readonly missing: readonly string[];
};

/** A run owned by this process. */
export type ActiveRun = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** The stored workflow has secrets masked, so a retry needs the original file. */
  readonly isMasked: boolean;
  readonly logs: StoredLogs;
  readonly state: () => RunState;
  /** The unmasked state: never store or show it. */
  readonly result: () => RunState;
  /** The last child run of each step whose child run failed. */
  readonly failedChildren: ReadonlyMap<string, FailedChild>;
  readonly cancel: (request: { reason: CancelReason; message: string; force: boolean }) => void;
  /** Answers a step that waits for approval, with checked inputs; has no effect on others. */
  readonly answer: (given: GivenAnswer) => void;
  /** Resolves once the last event is on disk (or could not be written) and every process has ended. */
  readonly finished: Promise<RunState>;
};

/** The answer of a person to the approval of a step; `inputs` are complete. */
export type GivenAnswer = Omit<Extract<RunInput, { type: 'answer' }>, 'type' | 'at'>;

/** A child run that failed, with the data that reports of its parent show. */
export type FailedChild = {
  /** The masked state. */
  readonly state: RunState;
  readonly sources: readonly Source[];
  /** The last lines of its failed steps and instances. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
  readonly children: ReadonlyMap<string, FailedChild>;
};

/** Called for every event after it was stored, in order, with the resulting state. */
export type RunWatcher = (event: StoredEvent, state: RunState) => void;

/** A lock that a step or a run holds; `id`: of its request. What runs within it takes turns by locks within this one. */
export type OuterLock = Lock & { readonly id: string };

/** A run accepted earlier that this process has taken over. */
export type TakenRun = {
  readonly journal: RunJournal;
  /** The events in the journal so far. */
  readonly events: readonly StoredEvent[];
};

/** `isNew`: false if a run with that id existed. */
export type AcceptedRun = { readonly runId: string; readonly isNew: boolean };

/** A run as its engine finds it. */
export type RunRef = Pick<RunState, 'owner' | 'promise'> & { readonly runId: string };

/** A request to stop a run: the user, and whether the run is killed without a grace period. */
export type StopOptions = { readonly by: string; readonly kill: 'never' | 'if-repeated' | 'now' };

/**
 * Carries out runs. What goes in and what comes out is data, so that any process may carry a run out. The runs, their
 * events and their owners are stored where other processes read them.
 */
export type Engine = {
  /**
   * Accepts a run; when it resolves, the run cannot be lost. If a run with that id exists, it stays as it is. Throws a
   * `WfError`: `usage` for an invalid id, `busy`, `storage`, or why the run cannot start.
   */
  readonly accept: (request: RunRequest) => Promise<AcceptedRun>;
  /** Yields the events of a run after a number, until the run has finished or the signal is aborted: see `RunArchive`. */
  readonly follow: (runId: string, after: number, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /**
   * Asks what carries out a run to stop it; resolves when the request is durable, to whether the run is killed. A second
   * request has no effect unless it kills. Throws a `WfError` `storage`.
   */
  readonly cancel: (run: RunRef, request: StopOptions) => Promise<boolean>;
  /**
   * Answers a step that waits for approval; resolves when the request is durable. False if the step had an answer before.
   * Throws a `WfError` `storage`.
   */
  readonly answer: (run: RunRef, answer: AnswerRequest) => Promise<boolean>;
  /** Determines whether what carries out a run, or is to start it, still exists; a promise if that has to be asked. */
  readonly judge: (run: RunRef) => OwnerVerdict | Promise<OwnerVerdict>;
};

/**
 * Copies what is new of an unfinished run of another engine to its directory, and with `until` what comes, until it is
 * aborted. Resolves to why what is there may be old, as a sentence; null: it is not.
 */
export type CatchUp = (run: RunRef, until?: AbortSignal) => Promise<string | null>;

/**
 * What an unfinished run of another engine waits for that may never come, such as workers that are not connected, each in one
 * line. It is a view of now, and not in the journal.
 */
export type Waits = (run: RunRef) => Promise<readonly string[]>;

/** Carries out runs in this process, each from its first event to its last. */
export type RunHost = {
  /** Starts an accepted run; the watcher also gets the events stored before. */
  readonly carry: (request: RunRequest, taken: TakenRun, watcher: RunWatcher) => ActiveRun;
  /**
   * Stores and starts the run. `family`: the secrets of the parent run, shared with this one: a value that becomes secret in
   * either is masked in both. Throws a `WfError` (`run-exists`, `storage`) before anything has started.
   */
  readonly start: (request: RunRequest, watcher: RunWatcher, family?: Secrets) => ActiveRun;
};

/** The first process of an attempt; `endedAt` is set once it has ended, in milliseconds since 1970-01-01 UTC. */
export type Leader = ProcessIdentity & { readonly endedAt?: number };

/** Marks the processes of a run: its id and, since another store may contain the same id, the directory of its logs. */
export type RunMark = { readonly runId: string; readonly logs: string };

/** Progress of the system's process counters. */
export type ProcessMoment = {
  /** The last number assigned. Numbers rise and wrap around to the lowest free one. */
  readonly lastPid: number;
  /** Processes and threads started since boot. */
  readonly forks: number;
  /** Processes and threads running now. */
  readonly tasks: number;
};

/** Finds and ends processes that a run left behind. */
export type BackgroundProcesses = {
  /** The current moment: every process of a run started later starts after it. */
  readonly moment: () => ProcessMoment | null;
  /** Living processes of the run. `spared`: names of steps whose processes are left alone. */
  readonly find: (
    run: RunMark,
    options: {
      readonly recorded: readonly Leader[];
      readonly spared: ReadonlySet<string>;
      readonly since: ProcessMoment | null;
    },
  ) => readonly ProcessIdentity[];
  /** Sends the signal, then SIGKILL after the grace period; resolves when the processes are gone. */
  readonly end: (
    processes: readonly ProcessIdentity[],
    options: { readonly signal: NodeJS.Signals; readonly graceMs: number },
  ) => Promise<void>;
  /**
   * Called after `end`: ends processes that cannot be found, by the group that holds all processes of the run.
   * `spares`: some may survive.
   */
  readonly sweep?: (runId: string, spares: boolean) => Promise<void>;
  /**
   * Called once, when the run will start no more programs and forwards no more output: only ends and cleanup are left.
   * Optional.
   */
  readonly rest?: (runId: string) => void;
};

/** The status that a notification reports. */
export type NoticeStatus = SettledStatus | FinishedStatus | 'waiting' | 'late';

/** A stored event worth a notification: a step settled, the run finished, or a step waits for approval. */
export type Notice = {
  /** The settled step or handler; null for the run. */
  readonly step: Step | null;
  /** The final status of the step or the run; `waiting`: a step of the run has begun to wait for approval. */
  readonly status: NoticeStatus;
  /** The masked state. */
  readonly state: RunState;
  readonly workflow: Workflow;
  /** The stored workflow is masked, so that a retry needs the file. */
  readonly isMasked: boolean;
  /** The variables as of the time of the notice. */
  readonly scope: (name: string) => string | undefined;
  /** Masks the secrets in a text. */
  readonly mask: (text: string) => string;
  readonly logs: RunLogs;
  /** The kept files of the run; absent: the engine keeps none. */
  readonly artifacts?: Pick<StoredArtifacts, 'open'>;
  readonly sources: readonly Source[];
  readonly children: ActiveRun['failedChildren'];
  /** Whether the run before it failed; absent: its history knows. */
  readonly failedBefore?: boolean;
  /** Aborted, with a reason, when the run stops waiting. */
  readonly signal: AbortSignal;
};

/** The artifacts of a run that are sent with a notice. `leftOut`: those that match and are not, one per line with the reason. */
export type Attached = {
  readonly files: readonly { readonly name: string; readonly content: Buffer }[];
  readonly leftOut: readonly string[];
};

/** Reads the artifacts whose names match one of the patterns. Throws a `PathProblem` as other texts of a notice do. */
export type Attach = (notice: Notice, patterns: readonly Template[], maxFiles: number) => Attached | Promise<Attached>;

/**
 * Sends a notification, for example by mail. Returns null if none is wanted; else resolves, soon after `signal` at the
 * latest, to the failures as lines for the user. Never changes an outcome.
 */
export type Notify = (notice: Notice) => Promise<readonly string[]> | null;

/** Called before a child run starts; returns its watcher. */
export type OnChild = (parent: ParentStep, child: Subworkflow) => ChildWatcher;

/** The step that runs a child run. */
export type ParentStep = { readonly runId: string; readonly step: string; readonly attempt: number };

/** Watches a child run; `attach` is called in the turn of the event loop in which the run starts. */
export type ChildWatcher = { readonly watch: RunWatcher; readonly attach: (run: ActiveRun) => void };

/** A sub-workflow to run; `params` still contain variables. */
export type Subworkflow = ChildWorkflow & {
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
) => Promise<{ readonly retryOf: string; readonly restored: readonly Restored[] } | null>;
