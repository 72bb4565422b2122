import type { ContainerRef, Outcome, ProcessIdentity } from '#core/run/run.ts';
import type { JsonObject, Step, Template, Workflow } from '#core/workflow.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import type { OutputFiles } from '#processes/started-program.ts';

/** Looks up a variable (`NAME`, or `1` for `$1`); undefined if it does not exist. */
export type Scope = (name: string) => string | undefined;

/**
 * The output of an attempt: the descriptors are the log files, open for appending, or pipes that this process reads. Paths
 * and descriptors of both streams are the same if the attempt has one log.
 */
export type AttemptLog = {
  /** Whether the descriptors are the log files themselves. */
  readonly isDirect: boolean;
  /** The files or pipes behind the descriptors, for a program that opens them by path; null: it has to inherit them. */
  readonly files: OutputFiles | null;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  readonly stdoutFd: number;
  readonly stderrFd: number;
};

/** Reports that the work has started: in a process, or in a child run. */
export type Started = (process: ProcessIdentity | null, child?: StartedChild) => void;

/** A child run that a step started; `workflow`: its workflow, where variables of the step name it. */
export type StartedChild = { readonly runId: string; readonly workflow?: string };

/** The container of an attempt: `daemon` is the address of its Docker daemon. */
export type Containment = {
  readonly container: ContainerRef;
  readonly daemon: string;
  /** Resolves to null if its health check succeeds, else to the reason why not. */
  readonly whyUnhealthy: () => Promise<string | null>;
};

/** The slot of a program of a run that limits how many run at once. */
export type ProgramSlot = {
  /** Distinguishes the runs of this process. */
  readonly group: number;
  /** How many programs of the run may run at once. */
  readonly limit: number;
  /** Called when the starter has taken the request: it starts the program once fewer than `limit` of the group run. */
  readonly queued: () => void;
  /** Whether fewer than `limit` run, besides those that the starter is still to start. */
  readonly isFree: () => boolean;
  /**
   * For a program that the starter does not start: resolves when there is a free slot, or when the attempt is asked to end;
   * null: there is one.
   */
  readonly free: () => Promise<void> | null;
};

/** The variables of a run, without those of a step. */
export type RunScope = Pick<Attempt, 'scope' | 'env' | 'expand'>;

/** Something that attempts of a run share. `close` resolves to the problem, or null; `force`: at once. */
export type Shared = { readonly close: (force: boolean) => Promise<string | null> };

/** The shared parts of the attempts of a run, by name. */
export type SharedParts = {
  /**
   * Opens it for the first attempt that needs it, in the variables of the run; closed at the end of the run. If it is
   * still being opened then, `end` is aborted.
   */
  readonly use: <T extends Shared>(name: string, open: (run: RunScope, end: EndSignal) => Promise<T>) => Promise<T>;
  /** Closes one that can no longer be used: the next attempt opens another. Resolves to the problem, or null. */
  readonly drop: (name: string, part: Shared) => Promise<string | null>;
};

/** One attempt at a step, as seen by an executor. */
export type Attempt = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly step: Step;
  /** Starts at 1. */
  readonly number: number;
  /** An absolute path, which may not exist. */
  readonly cwd: string;
  /** The complete environment for a process of the step. */
  readonly env: Readonly<Record<string, string>>;
  /** The run's parameters as arguments: `$1` is the first; a named one reads `NAME=value`. */
  readonly params: readonly string[];
  readonly scope: Scope;
  /** Expands the variables of a text outside commands, where quotes are ordinary characters. */
  readonly expand: (text: Template) => string;
  /** Whether the text contains a value that is masked in output. */
  readonly holdsSecret: (text: string) => boolean;
  /** For processes, which write to it directly; other executors use `write`. */
  readonly log: AttemptLog;
  readonly write: (stream: 'stdout' | 'stderr', chunk: string | Uint8Array) => void;
  /** An existing directory of the run for private files (mode 0700), removed with the run. */
  readonly scratch: () => string;
  /** Of a `command` step: a flush that its program has to follow, by the starter if `queued` names the file; null: none. */
  readonly flush: { readonly done: Promise<void>; readonly queued: string | null } | null;
  /** For a `command` step of a run that limits how many run at once; null: the program may start. */
  readonly slot: ProgramSlot | null;
  /** Call once when the work has started, with the process if there is one; `runWorkflow` calls it itself. */
  readonly started: Started;
  /** Call once when the work runs in a container. */
  readonly contained: (containment: Containment) => void;
  readonly shared: SharedParts;
  /** Aborted when the attempt should end: pass the step's `signalOnStop` on. */
  readonly signal: EndSignal;
  /** Aborted when the grace period has passed: end everything at once. */
  readonly kill: EndSignal;
  /** Runs another workflow as a child run, which starts the attempt, and returns its result. */
  readonly runWorkflow: (request: SubworkflowRequest) => Promise<SubworkflowResult>;
};

/**
 * The workflow to run (`run`) and its parameters: `params` in command line syntax, or `json`, a JSON object of names and
 * values. `isDefault`: the step has no `params`; its item is passed if the workflow takes a parameter.
 */
export type SubworkflowRequest = {
  readonly run: string;
  readonly params: string;
  readonly json?: string;
  readonly isDefault?: boolean;
};

/** The result of a child run; `json` describes it as JSON. `problem`: why it could not start, in one line. */
export type SubworkflowResult = {
  readonly ok: boolean;
  readonly canceled: boolean;
  readonly json: string;
  readonly message: string;
};

/**
 * Does the work of a step. It streams output as it arrives, ends soon after `signal` and at once after `kill`, and
 * never throws for a failing step: that is an `Outcome`. The engine adds `output` and turns an outcome after `signal`
 * into a timeout or a cancel.
 */
export type Executor = {
  readonly run: (config: JsonObject, attempt: Attempt) => Promise<Outcome>;
};
