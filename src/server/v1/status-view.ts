import { isAbsolute, join } from 'node:path';
import type { Param, RunStatus, StepStatus } from '#core/run/run.ts';
import { type AttemptRecord, attemptHistory } from '#core/summary/attempt-history.ts';
import type { RunHead, StepSummary } from '#core/summary/summary.ts';
import {
  type HandlerKind,
  handlerKind,
  handlerName,
  type Precondition,
  type Step,
  type Workflow,
} from '#core/workflow.ts';
import { formatParams } from '#language/formats.ts';
import type { ShownRun } from './v1-parts.ts';

/** The data of a workflow that may have no run. */
type RunSubject = { readonly name: string; readonly params: readonly Param[] };

/** Returns a run for listings; null: the workflow has never run. */
export function runView(run: RunHead | null, { name, params }: RunSubject): object {
  return {
    RequestId: run?.runId ?? '',
    Name: run?.workflow ?? name,
    ...(run === null ? notStarted : runStatusViews[run.status]),
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

/** Returns the conversion to nodes. Without a workflow, only the names of steps are known. */
function viewer(
  workflow: Workflow | null,
  attempts: ReadonlyMap<string, readonly AttemptRecord[]> | null,
): (summary: StepSummary) => object {
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

const NANOSECONDS_PER_MS = 1_000_000;

/** Converts a step or handler as written in the file, without evaluation; `dir`: the default directory of steps. */
export function stepView(step: Step, dir: string): object {
  return {
    Name: shownName(step.name),
    Description: step.description,
    Variables: step.env.map(({ name, value }) => `${name}=${value}`),
    Dir: effectiveDir(step.dir, dir),
    ...commandView(step),
    Script: step.script ?? '',
    Stdout: step.stdout ?? '',
    Stderr: step.stderr ?? '',
    Output: step.output ?? '',
    // Clients treat an empty list as an edge of the graph.
    Depends: step.depends.length === 0 ? null : step.depends,
    ContinueOn: { Failure: step.continueOn.failure, Skipped: step.continueOn.skipped },
    RetryPolicy: { Limit: step.retry.limit, Interval: step.retry.intervalMs * NANOSECONDS_PER_MS },
    RepeatPolicy: { Repeat: step.repeat !== null, Interval: (step.repeat?.intervalMs ?? 0) * NANOSECONDS_PER_MS },
    MailOnError: step.mailOn.failure,
    Preconditions: preconditionViews(step.preconditions),
    SignalOnStop: step.signalOnStop,
    ExecutorConfig: { Type: step.executor.type === 'command' ? '' : step.executor.type },
    Run: configText(step, 'run'),
    Params: configText(step, 'params'),
  };
}

/** Returns the name of a step or handler in the v1 API: `onExit` for `handlerOn.exit`. */
export function shownName(name: string): string {
  const kind = handlerKind(name);
  return kind === null ? name : `on${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}

/** Resolves a directory; one that begins with a variable may be absolute and is kept as written. */
function effectiveDir(own: string | null, dir: string): string {
  if (own === null) return dir;
  return isAbsolute(own) || /^[$`]/.test(own) ? own : join(dir, own);
}

/** Splits a command into the program and its arguments, at blanks, quotes included. */
function commandView(step: Step): object {
  if (step.executor.type === 'workflow') {
    const words = [configText(step, 'run'), configText(step, 'params')].filter((text) => text !== '');
    return { CmdWithArgs: words.join(' '), Command: 'run', Args: words };
  }
  const words = typeof step.command === 'string' ? step.command.split(/\s+/) : (step.command ?? []);
  const [Command = '', ...rest] = words.filter((word) => typeof step.command !== 'string' || word !== '');
  const text = typeof step.command === 'string' ? [step.command] : words;
  return { CmdWithArgs: [...text, ...step.args].join(' '), Command, Args: [...rest, ...step.args] };
}

/** Converts preconditions for the v1 API. */
export function preconditionViews(preconditions: readonly Precondition[]): readonly object[] {
  return preconditions.map(({ condition, expected }) => ({ Condition: condition, Expected: expected ?? '' }));
}

/** Reads a field of the executor's settings, in which a sub-workflow step has its workflow and parameters. */
function configText({ executor }: Step, key: 'run' | 'params'): string {
  const value = executor.type === 'workflow' ? executor.config[key] : undefined;
  return typeof value === 'string' ? value : '';
}

/** A status of the v1 API: a number and its text. */
type NumberedStatus = { readonly Status: number; readonly StatusText: string };

const notStarted: NumberedStatus = { Status: 0, StatusText: 'not started' };
const running: NumberedStatus = { Status: 1, StatusText: 'running' };
const failed: NumberedStatus = { Status: 2, StatusText: 'failed' };
const canceled: NumberedStatus = { Status: 3, StatusText: 'canceled' };
const finished: NumberedStatus = { Status: 4, StatusText: 'finished' };
const skipped: NumberedStatus = { Status: 5, StatusText: 'skipped' };

/** The status of a run; of a workflow that has never run, it is `notStarted`. */
const runStatusViews: { readonly [status in RunStatus]: NumberedStatus } = {
  queued: notStarted,
  running,
  canceling: running,
  handling: running,
  failed,
  canceled,
  succeeded: finished,
  partially_succeeded: finished,
  // By its precondition.
  skipped: finished,
};

const stepStatusViews: { readonly [status in StepStatus]: NumberedStatus } = {
  pending: notStarted,
  scheduled: notStarted,
  running,
  waiting: running,
  failed,
  canceled,
  upstream_failed: canceled,
  succeeded: finished,
  skipped,
};

/** Converts the status of a step or handler. Words tell what it waits for, and that a running service is ready. */
export function stepStatus({
  status,
  waitingFor = 'retry',
  service,
}: Pick<StepSummary, 'status' | 'waitingFor' | 'service'>): NumberedStatus {
  const view = stepStatusViews[status];
  if (status === 'waiting') return { ...view, StatusText: `waiting for ${waitingFor}` };
  return status === 'running' && service?.ready === true ? { ...view, StatusText: 'ready' } : view;
}
