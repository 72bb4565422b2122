import type { RetrySelection } from '#core/run/retry.ts';
import type {
  ApprovalAnswer,
  MarkedStatus,
  Outputs,
  Param,
  ScheduledMoment,
  StoredEvent,
  Trigger,
} from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { HolderSummary, RunSummary } from '#core/summary/summary.ts';
import type { Schedule, Workflow } from '#core/workflow.ts';
import type { AcceptedRun, StopOptions } from '#engine/engine.ts';
import { randomBytes } from '#fast/random-bytes.ts';
import type { Diagnostic } from '#language/diagnostic.ts';
import type { LogChunk, LogStream } from '#store/logs.ts';
import type { LockState, LockTicket } from '#store/store.ts';
import type { RunArtifacts } from './history/artifacts.ts';
import type { RunFilter } from './history/history.ts';
import type { LogReader } from './history/logs/log-view.ts';
import type { WorkflowReference } from './workflows/workflows.ts';

/**
 * The workflows and runs of this machine or of a daemon. Every method throws a `WfError` if it fails, the same from both.
 * A reference names a run by its id or a unique prefix of it, by `@latest` or `@failed`, or by a workflow (its last run).
 */
export type Service = {
  readonly workflows: WorkflowService;
  readonly runs: RunService;
  /** The locks and queues in use, in the order of their names. */
  readonly locks: () => Promise<readonly LockEntry[]>;
  /** The options by which another command reaches the same runs: ` --server https://ops.example.com`, or nothing. */
  readonly commandOptions: string;
};

type WorkflowService = {
  /** The location of the workflows for messages: a directory or an address. */
  readonly location: string;
  /** Returns the workflows here, then the others, in the order of their paths. `wholeRuns`: includes steps, handlers and warnings of their last runs. */
  readonly list: (detail: { readonly wholeRuns: boolean }) => Promise<readonly WorkflowEntry[]>;
};

/** The runs of a service. */
export type RunService = RunActions & {
  /** Returns a run with its failures. Throws `not-found`, or `usage` if several runs match. */
  readonly find: (reference: string) => Promise<RunSummary>;
  /** Throws as `find` does. */
  readonly view: (reference: string) => Promise<RunView>;
  /** Returns runs, newest first. Throws `not-found` for an unknown workflow. */
  readonly list: (filter: RunFilter) => Promise<readonly RunSummary[]>;
  /**
   * Returns the running and waiting runs of a reference (one run, or every run of a workflow), newest first, and the last run.
   * `prefer`: the meaning of a reference that is both the id of a run and a workflow. Throws as `find` does.
   */
  readonly active: (reference: string, prefer: 'run' | 'workflow') => Promise<ActiveRuns>;
  readonly ended: (runId: string) => Promise<RunSummary>;
  /** Throws as `find` does, and `not-found` for an unknown step or attempt. */
  readonly logs: (reference: string, request: LogRequest) => Promise<LogAnswer>;
  /** Throws as `find` does. */
  readonly artifacts: (reference: string) => Promise<RunArtifacts>;
  readonly repeatedStopKills: boolean;
  /** Records a run as lost whose process cannot be checked. Throws as `find` does, and `run-active`. */
  readonly declareLost: (reference: string) => Promise<RunSummary>;
};

/** The changes of runs, by their full ids. Each run has a process of its own, which survives the caller. */
export type RunActions = {
  /** Resolves when the run is stored. Throws `not-found`, `InvalidWorkflow`, `usage` (a parameter), `busy`, `storage`. */
  readonly start: (order: StartOrder) => Promise<AcceptedRun>;
  /** Returns null if no step is left to run. Throws as `start` does, and `run-active`. */
  readonly retry: (order: RetryOrder) => Promise<AcceptedRun | null>;
  /** Resolves when the request is durable. A queued run is canceled at once. Throws `not-found`, `storage`. */
  readonly stop: (runId: string, request: StopOptions) => Promise<StopAnswer>;
  /** Sets the status of a step of a finished run. Throws `not-found`, `run-active`, `storage`. */
  readonly mark: (runId: string, mark: StepMark) => Promise<RunSummary>;
  /**
   * Answers a step that waits for approval; resolves when the answer is durable. Throws `not-found`, `conflict` if the
   * step does not wait or another answer was first, `forbidden`, `invalid-params`, `storage`.
   */
  readonly answer: (runId: string, order: StepAnswerOrder) => Promise<RunSummary>;
};

/** An order to start a run. */
export type StartOrder = {
  readonly workflow: WorkflowReference;
  /** Literal data, never evaluated. Null: the defaults of the file. */
  readonly params: readonly Param[] | null;
  /** Null: a new id. If a run with this id exists, it is returned and nothing starts. */
  readonly runId: string | null;
  /** A daemon records its own trigger for runs that its clients start. */
  readonly trigger: Trigger;
  /** Failures that `continueOn.failure` tolerates fail the run, even if the settings of the service are not strict. */
  readonly strict?: boolean;
  /** Steps that run even if they are up to date; `all`: those of sub-workflows too. */
  readonly force?: 'all' | readonly string[];
  /** Steps that have the result of their last success, whatever has changed since. */
  readonly assumed?: readonly string[];
  /** Steps neither restore nor keep results. */
  readonly isUncached?: true;
  /** The moment for which the run is started; absent: none. */
  readonly moment?: ScheduledMoment;
  /** The backfill that the run is part of; absent: none. */
  readonly backfill?: string;
};

/** An order to retry a run. */
export type RetryOrder = Pick<StartOrder, 'params' | 'trigger' | 'strict'> & {
  /** The full id of the run to retry. */
  readonly runId: string;
  readonly selection: RetrySelection;
  /** Uses the present file instead of the stored workflow. */
  readonly useFile: boolean;
  readonly newRunId: string | null;
  /** The number of a retry by a daemon, from 1. */
  readonly retryNumber?: number;
};

export type { AcceptedRun, StopOptions };

/** `over`: the run had already finished. `forced`: the run is killed. */
export type StopAnswer = { readonly result: 'asked' | 'canceled' | 'over'; readonly forced: boolean };

/** The status that a user assigns to a step of a finished run; `by` names the user in messages. */
export type StepMark = { readonly step: string; readonly status: MarkedStatus; readonly by: string };

/** The decision of a person about a step; `by` names the person. A daemon uses the name of the login. */
export type StepAnswerOrder = {
  readonly step: string;
  readonly decision: ApprovalAnswer;
  readonly by: string;
  /** Empty: none. */
  readonly comment: string;
  /** Of an approval. */
  readonly inputs: Outputs;
};

/** An item of a run's feed: an event or output of a step. The output of an attempt comes before its end. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  | { readonly kind: 'output'; readonly chunk: LogChunk };

/** A workflow, valid or not. */
export type WorkflowEntry = {
  readonly name: string;
  /** Present: the file lies in the current directory and not in the workflows directory, so that no daemon starts it. */
  readonly here?: true;
  readonly group: string;
  readonly file: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Null: none. */
  readonly queue: string | null;
  readonly schedule: Schedule;
  /** In ISO 8601; null: never, or not scheduled. */
  readonly next: string | null;
  readonly suspended: boolean;
  /** In ISO 8601; null: without an end, or not suspended. */
  readonly suspendedUntil: string | null;
  readonly lastRun: RunSummary | null;
  /** The median duration of the last successful runs, in milliseconds; null without one. */
  readonly medianMs: number | null;
  readonly diagnostics: readonly Diagnostic[];
};

/** One run with the data that commands show. */
export type RunView = {
  readonly summary: RunSummary;
  readonly state: RunState;
  /** Null if the stored workflow is lost. */
  readonly workflow: Workflow | null;
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
  readonly stream: LogStream | null;
  /** The number of last stored lines to show, so that the rest need not be sent; null: all. */
  readonly tail: number | null;
  /** Whether each chunk has the time of its output. */
  readonly times?: boolean;
  /** Whether the bytes must be exact; otherwise lines are enough. */
  readonly exact: boolean;
  /** Continues until the run has finished; for a workflow without runs, waits for its first run. */
  readonly follow: boolean;
  readonly tell: (line: string) => void;
};

/** The output of a run, not read yet. */
export type LogAnswer = {
  readonly runId: string;
  /** The steps of the workflow, in the order of the file; null if the stored workflow is lost. */
  readonly steps: readonly { readonly name: string }[] | null;
  /** Resolves when all output is read, or the signal is aborted. */
  readonly read: (reader: LogReader, signal: AbortSignal) => Promise<void>;
};

/** A lock or queue in use, as JSON. */
export type LockEntry = Pick<LockState, 'kind' | 'name' | 'within'> & {
  /** The slots that it has. */
  readonly slots: number;
  readonly holders: readonly LockUse[];
  /** In their order; `place` is 1 for the next one. */
  readonly waiters: readonly (LockUse & { readonly place: number })[];
};

/** A run or step that holds slots of a lock, or waits for them, since a time in ISO 8601. */
export type LockUse = HolderSummary & Pick<LockTicket, 'mode' | 'slots'>;

/** A lock as JSON. */
export function lockEntry({ kind, name, size, within, holders, waiters }: LockState): LockEntry {
  const use = ({ id, since, ...ticket }: LockTicket) => ({ ...ticket, since: new Date(since).toISOString() });
  return {
    kind,
    name,
    slots: size,
    ...(within === undefined ? {} : { within }),
    holders: holders.map(use),
    waiters: waiters.map((ticket, index) => ({ ...use(ticket), place: index + 1 })),
  };
}

type ActiveRuns = { readonly active: readonly RunSummary[]; readonly last: RunSummary };

/** Creates a UUID of version 7 (RFC 9562): 48 bits of time in milliseconds and then random bits, so that ids sort by time. */
export function newRunId(now: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  return uuidOf(bytes, 7);
}

/** Writes the version and the variant of a UUID into 16 bytes and returns it as text. */
export function uuidOf(bytes: Buffer, version: number): string {
  bytes.writeUInt8((version << 4) | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Whether an id has the form of `newRunId`. */
export function isMadeRunId(runId: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(runId);
}
