import type { Param } from '../../core/run.ts';
import type { StepSummary } from '../../core/summary.ts';
import { type HandlerKind, handlerName, type Step, type Workflow } from '../../core/workflow.ts';
import type { BoardRun } from '../../service/daemon/run-board.ts';
import { formatParams } from '../../spec/params.ts';
import type { ShownRun } from './parts.ts';
import { runStatus, stepStatus } from './status-numbers.ts';
import { stepView } from './step-view.ts';

/** What is known of the workflow of a run that need not exist. */
export type RunSubject = { readonly name: string; readonly params: readonly Param[] };

/** A run as listings tell it; null: the workflow has never run. */
export function runView(run: BoardRun | null, { name, params }: RunSubject): object {
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

/** A run with its steps and handlers. */
export function runDetailView({ past, summary }: ShownRun): object {
  const workflow = past.stored?.workflow ?? null;
  const handler = (kind: HandlerKind) => {
    const ended = summary.handlers.find(({ name }) => name === handlerName(kind));
    return ended === undefined ? null : nodeView(ended, workflow?.handlers[kind] ?? null);
  };
  const steps = new Map(workflow?.steps.map((step) => [step.name, step]));
  return {
    ...runView(summary, { name: summary.workflow, params: [] }),
    Nodes: summary.steps.map((step) => nodeView(step, steps.get(step.name) ?? null)),
    OnExit: handler('exit'),
    OnSuccess: handler('success'),
    OnFailure: handler('failure'),
    OnCancel: handler('cancel'),
  };
}

/** A workflow that has never run, as a run of which nothing has happened. */
export function neverRunView(workflow: Workflow | null, subject: RunSubject): object {
  const nodes = (workflow?.steps ?? []).map((step) => nodeView({ ...untouched, name: step.name }, step));
  return { ...runView(null, subject), Nodes: nodes, OnExit: null, OnSuccess: null, OnFailure: null, OnCancel: null };
}

/** A step of a run; `step` is what the file says of it, null where that is lost. */
export function nodeView(summary: StepSummary, step: Step | null): object {
  return {
    Step: step === null ? { Name: summary.name } : stepView(step),
    Log: summary.log ?? '',
    StartedAt: summary.startedAt ?? '-',
    FinishedAt: summary.finishedAt ?? '-',
    ...stepStatus(summary.status),
    RetryCount: Math.max(0, summary.attempts - 1),
    DoneCount: summary.attempts,
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
