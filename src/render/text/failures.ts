import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import {
  type Failure,
  type Failures,
  failedSteps,
  type InstanceSummary,
  MAX_FAILURES,
  type RunSummary,
  type StepSummary,
  shownFailures,
} from '#core/summary/summary.ts';
import type { Position } from '#language/diagnostic.ts';
import { suggestLogs, suggestStatus } from './suggested-commands.ts';
import { shortId } from './value-text.ts';

/** A run with the data of its failures. */
export type FailedRun = {
  readonly summary: RunSummary;
  /** The last lines of output of its failed steps and instances. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
  /** The positions of its steps in their files, as far as they are known. */
  readonly positions: ReadonlyMap<string, Position>;
  /** For each step that a retry kept, the id of the run with its logs. */
  readonly origins: ReadonlyMap<string, string>;
  /** The child runs of its failed steps and instances; null or absent if a run cannot be read. */
  readonly children: { readonly get: (step: string) => FailedRun | null | undefined };
};

/**
 * Builds the failures of a run: of a fan-out its instances, of a sub-workflow the failures of the child run. Those that are
 * tolerated come last. `kept`: the runs are stored, so that commands can read them.
 */
export function failuresOf(run: FailedRun, kept = true): Failures {
  const { failures, moreFailures } = below(run, [], kept);
  const ordered = [
    ...failures.filter((one) => one.tolerated === undefined),
    ...failures.filter((one) => one.tolerated),
  ];
  const left = Math.max(0, ordered.length - MAX_FAILURES);
  return { failures: ordered.slice(0, MAX_FAILURES), moreFailures: moreFailures + left };
}

/** Returns the summary of a run with its failures, unless it has them already or has none. */
export function withFailures(run: FailedRun, kept = true): RunSummary {
  const { summary } = run;
  if (summary.failures !== undefined || failedSteps(summary).length === 0) return summary;
  return { ...summary, ...failuresOf(run, kept) };
}

/** Returns the failures of a run; an earlier version of the daemon sends only its steps. */
export function failuresIn(summary: RunSummary): Failures {
  const none = new Map<string, never>();
  const { failures, moreFailures = 0 } = summary;
  return failures === undefined
    ? failuresOf({ summary, tails: none, positions: none, origins: none, children: none })
    : { failures, moreFailures };
}

/** Returns the command that shows the log of a failure. `options`: those by which it reaches the run. */
export function failureCommand({ command }: Failure, options = ''): string | null {
  return command?.replace(/^wf \S+/, (start) => start + options) ?? null;
}

/** Returns the path of a failure as text: `deploy[eu] > push`. */
export function failurePath({ path }: Pick<Failure, 'path'>): string {
  return path.join(' > ');
}

/** Returns the reason of a failure in one line: `exit 3 after 2 attempts`. */
export function failureReason({ error, attempts, note }: Failure): string {
  const after = attempts > 1 ? ` after ${attempts} attempts` : '';
  return `${error}${after}${note === undefined ? '' : ` (${note})`}`;
}

function below(run: FailedRun, path: readonly string[], kept: boolean): Failures {
  const { shown, more } = shownFailures(run.summary);
  const each = shown.map((step) => failuresAt(step, run, path, kept));
  return {
    failures: each.flatMap(({ failures }) => failures),
    moreFailures: each.reduce((sum, { moreFailures }) => sum + moreFailures, more),
  };
}

/** Returns the failures of the child run of a step, or else the step itself. `path`: the steps that lead to its run. */
export function failuresAt(
  step: StepSummary | InstanceSummary,
  run: FailedRun,
  path: readonly string[],
  kept: boolean,
): Failures {
  const child = run.children.get(step.name) ?? null;
  const own = failureOf(step, child, run, { path, kept });
  const inner = child === null ? { failures: [], moreFailures: 0 } : below(child, own.path, kept);
  if (inner.failures.length === 0) return { failures: [own], moreFailures: 0 };
  const { tolerated } = own;
  if (tolerated === undefined) return inner;
  return { ...inner, failures: inner.failures.map((failure) => ({ ...failure, tolerated })) };
}

/** The output of a step with a child run is only the result of that run, as JSON: its lines are not shown. */
function failureOf(
  step: StepSummary | InstanceSummary,
  child: FailedRun | null,
  { summary, tails, positions, origins }: FailedRun,
  { path, kept }: { readonly path: readonly string[]; readonly kept: boolean },
): Failure {
  const { name, reason, error, exitCode, signal, attempts, tolerated } = step;
  const fanOut = 'key' in step ? (splitInstanceName(name)?.step ?? name) : name;
  const origin = origins.get(name) ?? origins.get(fanOut);
  const runId = child?.summary.runId ?? origin ?? summary.runId;
  const position = positions.get(fanOut);
  const command = child === null ? suggestLogs(runId, name) : suggestStatus(runId);
  return {
    path: [...path, name],
    runId,
    step: name,
    key: 'key' in step ? step.key : null,
    reason,
    error: (child?.summary.status === 'failed' ? child.summary.error : null) ?? error ?? 'failed',
    exitCode,
    signal,
    attempts,
    ...(tolerated === undefined || summary.strict ? {} : { tolerated }),
    ...(origin === undefined || child !== null ? {} : { kept: true }),
    place: position === undefined ? null : { file: position.file, ...position.start },
    lines: step.child === undefined ? (tails.get(name) ?? []) : [],
    log: child === null && step.child === undefined ? step.log : null,
    command: kept ? command : null,
    ...(step.child === undefined || child !== null ? {} : { note: `its run ${shortId(step.child)} cannot be read` }),
  };
}
