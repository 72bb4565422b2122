import type { Param } from '#core/run/run.ts';
import { type AttemptRecord, attemptHistory } from '#core/summary/attempt-history.ts';
import type { RunHead, StepSummary } from '#core/summary/summary.ts';
import { type HandlerKind, handlerName, type Workflow } from '#core/workflow.ts';
import { formatParams } from '#language/params.ts';
import { runStatus, stepStatus } from './status-numbers.ts';
import { shownName, stepView } from './step-view.ts';
import type { ShownRun } from './v1-parts.ts';

/** The data of a workflow that may have no run. */
export type RunSubject = { readonly name: string; readonly params: readonly Param[] };

/** Returns a run for listings; null: the workflow has never run. */
export function runView(run: RunHead | null, { name, params }: RunSubject): object {
  return {
    RequestId: run?.runId ?? '',
    Name: run?.workflow ?? name,
    ...runStatus(run?.status ?? null),
    Pid: run?.owner?.pid ?? -1,
    StartedAt: run?.startedAt ?? '',
    FinishedAt: run?.finishedAt ?? '',
    Log: run?.runId ?? '',
    Params: formatParams(run?.params ?? params),
  };
}

/** Returns a run with its steps and handlers. */
export function runDetailView(run: ShownRun): object {
  const { past, summary } = run;
  const node = nodeViews(run);
  const handlers = new Map(summary.handlers.map((handler) => [handler.name, handler]));
  return {
    ...runView(summary, { name: summary.workflow, params: [] }),
    Nodes: summary.steps.map(node),
    ...handlerViews(past.stored?.workflow ?? null, (name) => node(handlers.get(name) ?? { ...untouched, name })),
  };
}

/** Returns an empty run for a workflow that has never run. */
export function neverRunView(workflow: Workflow | null, subject: RunSubject): object {
  const node = viewer(workflow, null);
  return {
    ...runView(null, subject),
    Nodes: (workflow?.steps ?? []).map(({ name }) => node({ ...untouched, name })),
    ...handlerViews(workflow, (name) => node({ ...untouched, name })),
  };
}

/** Returns a function that converts steps and handlers of a run to nodes. */
export function nodeViews({ past }: ShownRun): (step: StepSummary) => object {
  const { stored } = past;
  return viewer(stored?.workflow ?? null, stored === null ? null : attemptHistory(stored.events));
}

/** Returns all handlers of the workflow, reached or not. */
function handlerViews(workflow: Workflow | null, view: (name: string) => object): object {
  const handler = (kind: HandlerKind) => (workflow?.handlers[kind] ? view(handlerName(kind)) : null);
  return {
    OnExit: handler('exit'),
    OnSuccess: handler('success'),
    OnFailure: handler('failure'),
    OnCancel: handler('cancel'),
  };
}

type Attempts = ReadonlyMap<string, readonly AttemptRecord[]>;

/** Returns the conversion to nodes. Without a workflow, only the names of steps are known. */
function viewer(workflow: Workflow | null, attempts: Attempts | null): (summary: StepSummary) => object {
  const all = workflow === null ? [] : [...workflow.steps, ...Object.values(workflow.handlers)];
  const steps = new Map(all.flatMap((step) => (step === null ? [] : [[step.name, step] as const])));
  return (summary) => {
    const step = steps.get(summary.name);
    const Step =
      step === undefined || workflow === null ? { Name: shownName(summary.name) } : stepView(step, workflow.dir);
    return { Step, ...nodeView(summary, attempts?.get(summary.name) ?? []) };
  };
}

/** Converts a step to a node. A step that never started has no times; repetitions do not count as retries. */
function nodeView(summary: StepSummary, attempts: readonly AttemptRecord[]): object {
  const isSkipped = summary.status === 'skipped';
  const neverStarted = summary.startedAt === null && summary.status !== 'failed' && summary.status !== 'succeeded';
  return {
    Log: isSkipped ? '' : (summary.log ?? ''),
    StartedAt: (isSkipped ? null : summary.startedAt) ?? '-',
    FinishedAt: (isSkipped || neverStarted ? null : summary.finishedAt) ?? '-',
    ...stepStatus(summary),
    RetryCount: attempts.filter(({ next }) => next?.why === 'retry').length,
    DoneCount: isSkipped ? 0 : attempts.filter(({ end }) => end !== null && end.status !== 'skipped').length,
    Error: summary.error ?? '',
  };
}

const untouched: StepSummary = {
  name: '',
  status: 'pending',
  reason: null,
  error: null,
  attempts: 0,
  exitCode: null,
  signal: null,
  startedAt: null,
  finishedAt: null,
  durationMs: null,
  outputs: {},
  log: null,
};
