import type { StaleReason } from '../fingerprint.ts';
import type {
  ApprovalAnswer,
  BlockedBy,
  ContainerRef,
  DotenvUse,
  FailureReason,
  LockHolder,
  Outputs,
  Param,
  RunReason,
  RunStatus,
  StepStatus,
  ToleratedBy,
  Trigger,
  WaitingFor,
} from '../run/run.ts';
import { isLeftOut, type RunState, type StepState, steps } from '../run/run-state.ts';
import { type ApprovalInput, handlerName, type ItemValue } from '../workflow.ts';

/** One step or handler in a `RunSummary`. Times are ISO 8601 UTC, durations milliseconds; absent values are null. */
export type StepSummary = {
  readonly name: string;
  readonly status: StepStatus;
  readonly reason: FailureReason | null;
  /** Why the step failed, was skipped or canceled, in one line. */
  readonly error: string | null;
  readonly attempts: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  /** Since when the step is late, or was until it ended; absent if it never was. */
  readonly lateSince?: string;
  readonly outputs: Outputs;
  /** The step did not run: it has the outputs of its last success; absent if it is not up to date. */
  readonly upToDate?: true;
  /** The result of the check of a step with `sources`; absent before it, and if it was not checked. */
  readonly cache?: CacheSummary;
  /** Path of the last attempt's standard output; its standard error is beside it. */
  readonly log: string | null;
  /** The container of the last attempt; absent if it ran in none. */
  readonly container?: ContainerRef;
  /** Absent if the step is not a service. `ready`: the service of the last attempt has been ready. */
  readonly service?: { readonly ready: boolean };
  /** The id of the sub-run that the last attempt started; absent if it started none. */
  readonly child?: string;
  /** The worker of the last attempt that started on one; absent without an engine. */
  readonly worker?: string;
  /** The part of `continueOn` that tolerated the failure of the last attempt; absent if none did. */
  readonly tolerated?: ToleratedBy;
  /** How often a repeating step has run, retries not counted; absent before the second time. */
  readonly repetitions?: number;
  /** The instances of a fan-out; absent before its items are known, and for any other step. */
  readonly items?: readonly InstanceSummary[];
  readonly waitingFor?: WaitingFor;
  readonly blocked?: BlockedSummary;
  readonly approval?: ApprovalSummary;
};

/** Whether a step with `sources` was up to date (`hit`), and else why not. */
export type CacheSummary = {
  readonly hit: boolean;
  /** Why the step ran; empty for a hit. */
  readonly reason: readonly StaleReason[];
  /** The number of reasons that are left out; absent: none. */
  readonly more?: number;
  /** The id of the run with the last success of the step, or the restored one; null: none is stored. */
  readonly from: string | null;
  /** How long the attempt of that success took; absent if the step ran. */
  readonly savedMs?: number;
  /** The files of that success were restored: it is not the last one. Absent for any other step. */
  readonly restored?: true;
};

/** An instance of a fan-out. `name` is `NAME[KEY]`. */
export type InstanceSummary = StepSummary & {
  readonly key: string;
  /** From 0. */
  readonly index: number;
  readonly item: ItemValue;
};

/** The lock or queue that a step waits for since `since`, and what held it when last recorded; null: unknown. */
export type BlockedSummary = {
  readonly name: string;
  readonly since: string;
  readonly holder: HolderSummary | null;
};

/** What holds a lock: a step, or a run (`step` null). `unknown`: the process, if it cannot be determined whether it is alive. */
export type HolderSummary = Omit<LockHolder, 'since'> & { readonly since: string };

/** The approval that a step asks for, or asked for; `answer` to `comment` are null until the answer. */
export type ApprovalSummary = {
  readonly prompt: string;
  readonly input: readonly (ApprovalInput['rule'] & Omit<ApprovalInput, 'rule'>)[];
  /** The users who may answer; empty: all who may start the workflow. */
  readonly allowed: readonly string[];
  /** When the wait began; null: unknown, since an earlier version of the daemon does not send it. */
  readonly since: string | null;
  /** When it times out; null: never. */
  readonly until: string | null;
  readonly answer: ApprovalAnswer | null;
  /** Null too if no person answered. */
  readonly by: string | null;
  readonly at: string | null;
  readonly comment: string | null;
};

/** A step, handler or instance that failed, in a run or in one of its child runs. */
export type Failure = {
  /** The steps that lead to it from the run itself: `['deploy[eu]', 'push']`. */
  readonly path: readonly string[];
  /** The run that has its log: the run itself, a child run, or the earlier run whose result a retry kept. */
  readonly runId: string;
  /** Its name in its run: the last one of `path`. */
  readonly step: string;
  /** The key of an instance; null for any other step. */
  readonly key: string | null;
  readonly reason: FailureReason | null;
  /** Why it failed, in one line. */
  readonly error: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly attempts: number;
  /** The part of `continueOn` that tolerated it, or a step of its path; absent if it counts. */
  readonly tolerated?: ToleratedBy;
  /** Present: the result of an earlier run (`runId`), which a retry kept. */
  readonly kept?: true;
  /** Its position in its file, as far as it is known. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | null;
  /** The last lines of its output. */
  readonly lines: readonly string[];
  /** The path of the log of its last attempt; null if it is not stored here. */
  readonly log: string | null;
  /** The command that shows its log; null if the run is not stored. */
  readonly command: string | null;
  /** Why its child run is not shown; absent for any other step. */
  readonly note?: string;
};

/** The failures of a run: the first of each fan-out, and the number of those that are left out. */
export type Failures = { readonly failures: readonly Failure[]; readonly moreFailures: number };

/** The one JSON view of a run: `wf status --json`, `wf history --json`, `/api/v2`. */
export type RunSummary = Partial<Failures> & {
  readonly runId: string;
  readonly workflow: string;
  readonly group: string;
  readonly file: string | null;
  readonly status: RunStatus;
  readonly reason: RunReason | null;
  /** One line of text to go with `reason`; null if there is nothing to add. */
  readonly error: string | null;
  readonly trigger: Trigger;
  readonly retryOf: string | null;
  /** The moment for which it was started, such as that of its schedule; null: none. */
  readonly scheduledFor: string | null;
  /** The backfill that the run is part of; absent: none. */
  readonly backfill?: string;
  readonly params: readonly Param[];
  readonly owner: { readonly pid: number; readonly host: string } | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  readonly steps: readonly StepSummary[];
  /** Handlers that the run reached, in the order in which they ran. */
  readonly handlers: readonly StepSummary[];
  readonly warnings: readonly string[];
  /** Failures tolerated by `continueOn.failure` fail the run; absent if they do not. */
  readonly strict?: true;
  readonly tags?: readonly string[];
  readonly queue?: string;
  /** What the run waits for before it starts; absent if it waits for nothing, or has started. */
  readonly blocked?: BlockedSummary & { readonly why: BlockedBy };
  /**
   * The retries of the run by a daemon: the number of this one (0: the first run), their maximum, and when the next one
   * is due (null: none follows). Absent without `retryPolicy`, and for a run that no daemon started.
   */
  readonly autoRetry?: { readonly n: number; readonly limit: number; readonly at: string | null };
  /** Since when the run is late, or was until it ended; absent if it never was. */
  readonly lateSince?: string;
  readonly dotenv?: readonly DotenvUse[];
  /** The steps that wait for an approval; absent if none does. */
  readonly waitingFor?: readonly string[];
};

/** A run in a list: everything but its steps, of which there may be many thousand in all. */
export type RunHead = Omit<RunSummary, 'steps' | 'handlers' | 'warnings' | keyof Failures>;

/** The steps and handlers that failed, without the handler `wait`, whose failure is a warning of the run. */
export function failedSteps({ steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>): readonly StepSummary[] {
  return [...steps, ...handlers].filter(isFailure);
}

/** Whether a step or handler is listed as a failure of its run. */
function isFailure({ name, status }: Pick<StepSummary, 'name' | 'status'>): boolean {
  return status === 'failed' && name !== handlerName('wait');
}

/** The most failed instances of a fan-out that are shown, and the most failures of a run with its child runs. */
const MAX_INSTANCES = 3;
export const MAX_FAILURES = 20;

/**
 * The failures of a run to show, those that count first: of a fan-out its first failed instances instead of itself. `more`:
 * the number of the others.
 */
export function shownFailures(summary: Pick<RunSummary, 'steps' | 'handlers' | 'strict'>): {
  readonly shown: readonly (StepSummary | InstanceSummary)[];
  readonly more: number;
} {
  const all = failedSteps(summary).map(failedNodes);
  const picked = all.flatMap((nodes) => nodes.slice(0, MAX_INSTANCES));
  const shown = [...picked.filter((node) => !isTolerated(node)), ...picked.filter(isTolerated)].slice(0, MAX_FAILURES);
  return { shown, more: all.flat().length - shown.length };

  function isTolerated({ tolerated }: StepSummary): boolean {
    return tolerated !== undefined && summary.strict !== true;
  }
}

/** Returns the failed instances of a fan-out, those whose failure counts first; the step itself if it has none. */
export function failedNodes(step: StepSummary): readonly (StepSummary | InstanceSummary)[] {
  const failed = (step.items ?? []).filter(isFailure);
  if (failed.length === 0) return [step];
  return [...failed].sort((a, b) => Number(a.tolerated !== undefined) - Number(b.tolerated !== undefined));
}

/** The run that made the attempts of a restored step, and therefore has its logs; null for a step of the run itself. */
export function originOf(run: RunState, step: StepState): string | null {
  return step.origin ?? (step.restored && !isLeftOut(run, step) ? run.retryOf : null);
}

/** The origins of all restored steps, by step name. */
export function originsOf(run: RunState): ReadonlyMap<string, string> {
  return new Map(
    [...steps(run)].flatMap((step) => {
      const origin = originOf(run, step);
      return origin === null ? [] : [[step.name, origin] as const];
    }),
  );
}
