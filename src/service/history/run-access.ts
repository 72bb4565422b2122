import type { MarkedStatus } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Schedule, Workflow } from '../../core/workflow.ts';
import type { Place } from '../../language/diagnostic.ts';
import type { RunFilter } from './history.ts';
import type { LogReader } from './log-view.ts';

/**
 * The workflows and runs of one place as commands see them: those of this machine, or those of a daemon. A word means a run by
 * its id or the unique beginning of it, as `@latest` or `@failed`, or as the last run of a workflow. Every method throws a
 * `WfError` for what cannot be done, the same from both places.
 */
export type RunAccess = {
  /** Where the workflows are, for a person: a directory, an address. */
  readonly workflowsPlace: string;
  /** What a command needs to look at the same place again: ` --server https://ops.example.com`, or nothing. */
  readonly commandOptions: string;
  /** In the order of their paths. `wholeRuns`: their last runs with steps, handlers and warnings too. */
  readonly workflows: (detail: { readonly wholeRuns: boolean }) => Promise<readonly WorkflowEntry[]>;
  /** Newest first. Throws `not-found` for a workflow that nobody knows. */
  readonly runs: (filter: RunFilter) => Promise<readonly RunSummary[]>;
  /** Throws `not-found`, or `usage` when several runs are meant. */
  readonly summary: (word: string) => Promise<RunSummary>;
  readonly view: (word: string) => Promise<RunView>;
  /** Throws as `summary` does, and `not-found` for a step or an attempt that the run does not have. */
  readonly logs: (word: string, request: LogRequest) => Promise<RunLogs>;
  /** What is going on under a name: one run by its id, or every run of a workflow, newest first; and the one last made. */
  readonly meant: (word: string) => Promise<MeantSummaries>;
  /** Whether a run can be killed at once. */
  readonly canForce: boolean;
  readonly stop: (runId: string, request: StopRequest) => Promise<StopAnswer>;
  /** Records a run as lost whose process is gone, where that cannot be found out. Throws as `summary` does, and `run-active`. */
  readonly declareLost: (word: string) => Promise<RunSummary>;
  /** Resolves to the run when it is over. */
  readonly untilOver: (runId: string) => Promise<RunSummary>;
  readonly mark: (word: string, mark: StepMark) => Promise<RunSummary>;
};

/** A workflow, also one that has errors. */
export type WorkflowEntry = {
  readonly name: string;
  readonly group: string;
  readonly file: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly schedule: Schedule;
  /** In ISO 8601; null for never, or not by the time. */
  readonly next: string | null;
  readonly suspended: boolean;
  readonly lastRun: RunSummary | null;
  /** As `wf list --json` prints them. */
  readonly diagnostics: readonly { readonly severity: 'error' | 'warning' }[];
};

/** One run with all that is to be shown of it. */
export type RunView = {
  readonly summary: RunSummary;
  readonly state: RunState;
  /** Null when what the run was made from is lost. */
  readonly workflow: Workflow | null;
  /** Where its failed steps stand in their files; those that are missing have no place. */
  readonly places: ReadonlyMap<string, Place>;
  /** The last lines of its failed steps. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
  /** Present: its stored workflow has masks in the place of secrets, so that a retry needs the file. */
  readonly masked?: true;
};

/** Which output of a run. */
export type LogRequest = {
  /** Null: all. */
  readonly step: string | null;
  /** Null: all of each step. */
  readonly attempt: number | null;
  /** Null: both. */
  readonly stream: 'stdout' | 'stderr' | null;
  /** Only the last so many lines are shown of what is stored, so that the rest need not be sent; null: all. */
  readonly tail: number | null;
  /** Whether every byte counts, or lines are enough. */
  readonly exact: boolean;
  /** Goes on until the run is over; of a workflow that has not run yet, from its first run on. */
  readonly follow: boolean;
  /** Takes a line for the person who waits. */
  readonly tell: (line: string) => void;
};

/** The output of a run, still to be read. */
export type RunLogs = {
  readonly runId: string;
  /** The steps of the workflow, in the order of the file; null when that is lost. */
  readonly steps: readonly { readonly name: string }[] | null;
  /** Resolves when all is read, or the signal is aborted. */
  readonly read: (reader: LogReader, signal: AbortSignal) => Promise<void>;
};

/** The runs that a word means. */
export type MeantSummaries = { readonly active: readonly RunSummary[]; readonly last: RunSummary };

/** Who wants a run stopped, and whether at once. */
export type StopRequest = { readonly by: string; readonly force: boolean };

/** `over`: it had ended before. `forced`: it is killed, since that was asked for, or it was asked to stop before. */
export type StopAnswer = { readonly result: 'asked' | 'canceled' | 'over'; readonly forced: boolean };

/** How a step of a finished run counts. */
export type StepMark = { readonly step: string; readonly status: MarkedStatus; readonly by: string };
