import { given } from '../data/collections.ts';
import { autoRetryOf } from '../run/policies.ts';
import type { RunStatus } from '../run/run.ts';
import {
  type AskedApproval,
  type BlockedState,
  heldSteps,
  instancesOf,
  isBlocked,
  type RunState,
  type StepCache,
  type StepState,
  stepNode,
  stepState,
  steps,
} from '../run/run-state.ts';
import { handlerState } from '../run/settle.ts';
import type { Approval } from '../workflow.ts';
import type {
  ApprovalSummary,
  BlockedSummary,
  CacheSummary,
  InstanceSummary,
  RunHead,
  RunSummary,
  StepSummary,
} from './summary.ts';

/** Path of an attempt's standard output; null if it is not stored. */
export type StdoutPath = (step: string, attempt: number) => string | null;

/** The public view of a run at any time. */
export function summarize(run: RunState, logPath: StdoutPath): RunSummary {
  const retry = autoRetryOf(run);
  return {
    runId: run.runId,
    workflow: run.workflow,
    group: run.group,
    file: run.file,
    status: run.status,
    reason: run.reason,
    error: textOrNull(run.message),
    trigger: run.trigger,
    retryOf: run.retryOf,
    scheduledFor: isoTimeOrNull(run.scheduledFor ?? null),
    params: run.params,
    owner: run.owner === null || 'engine' in run.owner ? null : { pid: run.owner.pid, host: run.owner.host },
    createdAt: isoTime(run.createdAt),
    startedAt: isoTimeOrNull(run.startedAt),
    finishedAt: isoTimeOrNull(run.finishedAt),
    durationMs: durationOf(run),
    steps: Array.from(steps(run), (step) => summarizeStep(run, step, logPath)),
    handlers: reachedHandlers(run).map((handler) => summarizeStep(run, handler, logPath)),
    warnings: warningTexts(run),
    ...given({
      strict: run.strict ? (true as const) : null,
      dotenv: run.dotenv,
      backfill: run.backfill,
      tags: run.tags,
      queue: run.queue,
      blocked:
        run.status === 'queued' ? run.blocked && { why: run.blocked.why, ...summarizeBlocked(run.blocked) } : null,
      autoRetry: retry && { ...retry, at: isoTimeOrNull(retry.at) },
      lateSince: isoTimeOrNull(run.lateAt ?? null),
      waitingFor: run.held === 0 ? null : heldSteps(run).map(({ name }) => name),
    }),
  };
}

/** The warnings of a run, each in one line. */
export function warningTexts({ warnings }: RunState): readonly string[] {
  return warnings.map(({ step, message }) => (step === null ? message : `${step}: ${message}`));
}

/** Returns a run without its steps and failures. */
export function headOf({ steps, handlers, warnings, failures, moreFailures, ...head }: RunSummary): RunHead {
  return head;
}

/** The handlers that have started, in the order in which they ran. */
export function reachedHandlers(run: RunState): readonly StepState[] {
  const kinds = ['init', 'wait', ...(run.handling?.handlers ?? [])] as const;
  return kinds.flatMap((kind) => handlerState(run, kind) ?? []).filter(({ status }) => status !== 'pending');
}

/** The public view of one step or handler. `only`: the names of the instances to include; default: all. */
export function summarizeStep(
  run: RunState,
  step: StepState,
  logPath: StdoutPath,
  only?: ReadonlySet<string>,
): StepSummary {
  const { instances } = step;
  const { service, approval } = stepNode(run, step.name);
  return {
    name: step.name,
    status: step.status,
    reason: step.reason,
    error: textOrNull(step.message),
    attempts: step.attempt,
    exitCode: step.exitCode,
    signal: step.signal,
    startedAt: isoTimeOrNull(step.startedAt),
    finishedAt: isoTimeOrNull(step.finishedAt),
    durationMs: durationOf(step),
    outputs: step.outputs,
    log: step.attempt === 0 || instances !== undefined ? null : logPath(step.name, step.attempt),
    ...given({
      lateSince: isoTimeOrNull(step.lateAt ?? null),
      upToDate: step.cache?.hit || null,
      cache: step.cache && summarizeCache(step.cache),
      container: step.container,
      service: service === undefined ? null : { ready: step.isReady },
      child: step.child,
      worker: step.worker,
      tolerated: step.tolerated,
      repetitions: step.repetitions === 0 ? null : step.repetitions + Number(step.waitingFor !== 'repeat'),
      items: instances && summarizeInstances(run, step, logPath, only),
      waitingFor: step.waitingFor,
      blocked: isBlocked(step) && step.blocked !== undefined ? summarizeBlocked(step.blocked) : null,
      approval: step.approval && summarizeApproval(step.approval, approval),
    }),
  };
}

function summarizeCache(cache: StepCache): CacheSummary {
  if (cache.hit) {
    const { from, savedMs, restored } = cache;
    return { hit: true, reason: [], from, savedMs, ...given({ restored }) };
  }
  const { reason, more, from = null } = cache;
  return { hit: false, reason, ...given({ more }), from };
}

function summarizeBlocked({ name, holder, since }: Pick<BlockedState, 'name' | 'holder' | 'since'>): BlockedSummary {
  const held = holder && { ...holder, since: isoTime(holder.since) };
  return { name, since: isoTime(since), holder: held };
}

function summarizeApproval(
  { prompt, heldAt, until, answer }: AskedApproval,
  asked: Approval | undefined,
): ApprovalSummary {
  return {
    prompt,
    input: (asked?.inputs ?? []).map(({ name, default: value, rule, ...secret }) => ({
      name,
      ...rule,
      default: value,
      ...secret,
    })),
    allowed: asked?.by ?? [],
    since: isoTime(heldAt),
    until: isoTimeOrNull(until),
    answer: answer?.answer ?? null,
    by: answer?.by ?? null,
    at: isoTimeOrNull(answer?.at ?? null),
    comment: textOrNull(answer?.comment ?? ''),
  };
}

function summarizeInstances(
  run: RunState,
  step: StepState,
  logPath: StdoutPath,
  only?: ReadonlySet<string>,
): readonly InstanceSummary[] {
  const instances = only === undefined ? instancesOf(run, step) : Array.from(only, (name) => stepState(run, name));
  return instances.map((instance) => {
    const { key = '', index = 0, value = '' } = instance.item ?? {};
    return { key, index, item: value, ...summarizeStep(run, instance, logPath) };
  });
}

/** The duration of a run or step in milliseconds, never negative; null if it has not been started or finished. */
export function durationOf({ startedAt, finishedAt }: Pick<RunState, 'startedAt' | 'finishedAt'>): number | null {
  return startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);
}

/** A time in ISO 8601. */
export function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

/** The number of successful runs that an estimate is based on. */
const USUAL_RUNS = 10;

/**
 * Returns the median duration of the last ten successful runs, in milliseconds, as an estimate of the next; null if there is
 * none. `runs`: newest first.
 */
export function usualDurationMs(
  runs: readonly { readonly status: RunStatus | null; readonly durationMs: number | null }[],
): number | null {
  const durations = runs.flatMap(({ status, durationMs }) => (status === 'succeeded' ? (durationMs ?? []) : []));
  const sorted = durations.slice(0, USUAL_RUNS).sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : Math.round((upper + lower) / 2);
}
