import type { MarkedStatus } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Schedule, Workflow } from '../../core/workflow.ts';
import type { Place } from '../../language/diagnostic.ts';
import type { RunFilter } from './history.ts';
import type { LogReader } from './log-view.ts';

/**
 * The workflows and runs of this machine or of a daemon, for commands. A reference names a run by its id or a unique
 * prefix of it, by `@latest` or `@failed`, or by a workflow (its last run). Every method throws a `WfError` if it fails,
 * the same from both.
 */
export type RunAccess = {
  /** The location of the workflows for messages: a directory or an address. */
  readonly workflowsPlace: string;
  /** The options by which another command reaches the same runs: ` --server https://ops.example.com`, or nothing. */
  readonly commandOptions: string;
  /** Returns the workflows in the order of their paths. `wholeRuns`: includes steps, handlers and warnings of their last runs. */
  readonly workflows: (detail: { readonly wholeRuns: boolean }) => Promise<readonly WorkflowEntry[]>;
  /** Returns runs, newest first. Throws `not-found` for an unknown workflow. */
  readonly runs: (filter: RunFilter) => Promise<readonly RunSummary[]>;
  /** Throws `not-found`, or `usage` if several runs match. */
  readonly summary: (word: string) => Promise<RunSummary>;
  readonly view: (word: string) => Promise<RunView>;
  /** Throws as `summary` does, and `not-found` for an unknown step or attempt. */
  readonly logs: (word: string, request: LogRequest) => Promise<RunLogs>;
  /** Returns the running and waiting runs of a reference (one run, or every run of a workflow), newest first, and the last run. */
  readonly meant: (word: string) => Promise<MeantSummaries>;
  /** Whether runs can be killed without a grace period. */
  readonly canForce: boolean;
  readonly stop: (runId: string, request: StopRequest) => Promise<StopAnswer>;
  /** Records a run as lost whose process cannot be checked. Throws as `summary` does, and `run-active`. */
  readonly declareLost: (word: string) => Promise<RunSummary>;
  /** Resolves to the run when it has finished. */
  readonly untilOver: (runId: string) => Promise<RunSummary>;
  readonly mark: (word: string, mark: StepMark) => Promise<RunSummary>;
};

/** A workflow, valid or not. */
export type WorkflowEntry = {
  readonly name: string;
  readonly group: string;
  readonly file: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly schedule: Schedule;
  /** In ISO 8601; null: never, or not scheduled. */
  readonly next: string | null;
  readonly suspended: boolean;
  readonly lastRun: RunSummary | null;
  /** As `wf list --json` prints them. */
  readonly diagnostics: readonly { readonly severity: 'error' | 'warning' }[];
};

/** One run with the data that commands show. */
export type RunView = {
  readonly summary: RunSummary;
  readonly state: RunState;
  /** Null if the stored workflow is lost. */
  readonly workflow: Workflow | null;
  /** The positions of failed steps in their files, as far as they are known. */
  readonly places: ReadonlyMap<string, Place>;
  /** The last lines of its failed steps. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
  /** Present: secrets in the stored workflow are masked, so that a retry needs the file. */
  readonly masked?: true;
};

/** Selects output of a run. */
export type LogRequest = {
  /** Null: all. */
  readonly step: string | null;
  /** Null: all of each step. */
  readonly attempt: number | null;
  /** Null: both. */
  readonly stream: 'stdout' | 'stderr' | null;
  /** The number of last stored lines to show, so that the rest need not be sent; null: all. */
  readonly tail: number | null;
  /** Whether the bytes must be exact; otherwise lines are enough. */
  readonly exact: boolean;
  /** Continues until the run has finished; for a workflow without runs, waits for its first run. */
  readonly follow: boolean;
  /** Receives a line for the waiting user. */
  readonly tell: (line: string) => void;
};

/** The output of a run, not read yet. */
export type RunLogs = {
  readonly runId: string;
  /** The steps of the workflow, in the order of the file; null if the stored workflow is lost. */
  readonly steps: readonly { readonly name: string }[] | null;
  /** Resolves when all output is read, or the signal is aborted. */
  readonly read: (reader: LogReader, signal: AbortSignal) => Promise<void>;
};

/** The runs that a reference selects. */
export type MeantSummaries = { readonly active: readonly RunSummary[]; readonly last: RunSummary };

/** A request to stop a run: the user, and whether to kill at once. */
export type StopRequest = { readonly by: string; readonly force: boolean };

/** `over`: the run had already finished. `forced`: the run is killed, by `force` or because this is the second request. */
export type StopAnswer = { readonly result: 'asked' | 'canceled' | 'over'; readonly forced: boolean };

/** The status that a user assigns to a step of a finished run. */
export type StepMark = { readonly step: string; readonly status: MarkedStatus; readonly by: string };
