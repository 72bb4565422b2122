import type { Outcome, ProcessIdentity } from '../core/run/run.ts';
import type { JsonObject, Step, Template, Workflow } from '../core/workflow.ts';
import type { EndSignal } from '../processes/end-signal.ts';

/** Looks a variable up (`NAME`, or `1` for `$1`); undefined when nothing has that name. */
export type Scope = (name: string) => string | undefined;

/** Where an attempt's output goes: the descriptors are the files, open for appending, or pipes on whose way to them secrets are masked. */
export type AttemptLog = {
  /** Whether the descriptors are the files, so that a process may just as well open these itself. */
  readonly isDirect: boolean;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  readonly stdoutFd: number;
  readonly stderrFd: number;
};

/** Reports that the work has begun: in a process, or in a run of another workflow, whose id is `child`. */
export type Started = (process: ProcessIdentity | null, child?: string) => void;

/** One attempt at one step, as an executor sees it. */
export type Attempt = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly step: Step;
  /** From 1. */
  readonly number: number;
  /** Absolute; not checked to exist. */
  readonly cwd: string;
  /** The complete environment for a process of the step. */
  readonly env: Readonly<Record<string, string>>;
  /** The run's parameters as arguments: `$1` is the first; a named one reads `NAME=value`. */
  readonly params: readonly string[];
  readonly scope: Scope;
  /** Replaces the variables of a text outside commands, where quotes are ordinary characters. */
  readonly expand: (text: Template) => string;
  /** Whether a value that is masked in output stands in the text. */
  readonly holdsSecret: (text: string) => boolean;
  /** A process writes here directly; an executor without one uses `write`. */
  readonly log: AttemptLog;
  readonly write: (stream: 'stdout' | 'stderr', chunk: string | Uint8Array) => void;
  /** An existing directory of the run for private files (mode 0700); it goes with the run. */
  readonly scratch: () => string;
  /** Call once when the work has begun, with the process where there is one; `runWorkflow` does it by itself. */
  readonly started: Started;
  /** Aborted when the attempt should end: pass the step's `signalOnStop` on. */
  readonly signal: EndSignal;
  /** Aborted when the grace is over: end everything at once. */
  readonly kill: EndSignal;
  /** Runs another workflow as a run of its own, which starts the attempt, and returns how it ended. */
  readonly runWorkflow: (request: SubworkflowRequest) => Promise<SubworkflowResult>;
};

/** Which workflow a step runs (`run`) and with what (`params`, as text in the syntax of the command line). */
export type SubworkflowRequest = { readonly run: string; readonly params: string };

/** How the other workflow ended; `json` is its result as a JSON text. `problem` is a line when it could not start. */
export type SubworkflowResult = {
  readonly ok: boolean;
  readonly canceled: boolean;
  readonly json: string;
  readonly message: string;
};

/**
 * One way to do the work of a step. It streams output as it comes, ends soon after `signal` and at once after `kill`,
 * and never throws for a step that fails: that is an `Outcome`. The engine adds `output` and turns an outcome after
 * `signal` into a timeout or a cancel.
 */
export type Executor = {
  readonly run: (config: JsonObject, attempt: Attempt) => Promise<Outcome>;
};
