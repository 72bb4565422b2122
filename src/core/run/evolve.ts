import { given, itemAt, vectorOf, withMore } from '../data/collections.ts';
import { addInstances, cancelInstances, newInstances } from '../fan-out/instances.ts';
import { nodeIndex } from '../graph.ts';
import { withRunNumbers } from '../step-numbers.ts';
import { handlerKind, handlerName } from '../workflow.ts';
import { evolveNode, resettleNode, settleNode } from './evolve-node.ts';
import { attemptResult } from './outcome.ts';
import type { EarlierResult, Ended, FailureReason, KeptFile, RunEvent, SettledStatus, ToleratedBy } from './run.ts';
import { type Cancellation, isSettled, type RunState, type StepState, stepNode, stepState } from './run-state.ts';

/**
 * The private working copy of one decision. Each event is applied to the state as it is recorded, so that the state
 * always matches the events, and the next decision starts from it.
 */
export type Draft = { run: RunState; readonly events: RunEvent[] };

export function record(draft: Draft, event: RunEvent): void {
  draft.run = evolve(draft.run, event);
  draft.events.push(event);
}

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/**
 * Applies one event to the run. It decides nothing and ignores nothing: journals are kept forever, so every type of
 * event that was ever written stays here. Throws for an unknown step and for an unknown type of event.
 */
export function evolve(run: RunState, event: RunEvent): RunState {
  const { type } = event;
  if (Object.hasOwn(changes, type)) return changes[type](run, event as never);
  throw new Error(`The journal contains an event of a type that this version of wf does not know: "${type}".`);
}

const changes: { readonly [Type in RunEvent['type']]: (run: RunState, event: Event<Type>) => RunState } = {
  'run.created': created,
  /** A second one follows if the owner died before the first step. */
  'run.queued': (run, { by, lasting }) => ({ ...run, owner: null, params: run.givenParams, promise: { by, lasting } }),
  'run.owned': (run, { owner }) => ({ ...run, owner, promise: null }),
  'run.prepared': (run, { params, numbers = [] }) => {
    return { ...run, params, policies: { ...run.policies, ...withRunNumbers(run.policies, numbers) } };
  },
  'run.blocked': (run, { at, why, name, holder }) => {
    const since = run.blocked?.why === why && run.blocked.name === name ? run.blocked.since : at;
    return { ...run, blocked: { why, name, holder, since } };
  },
  'run.started': (run, { at }) => ({ ...run, status: 'running', startedAt: at }),
  'run.late': (run, { at }) => ({ ...run, lateAt: at }),
  'step.late': (run, { at, step }) => evolveStep(run, step, { lateAt: at }),
  'step.restored': restored,
  'step.scheduled': scheduled,
  'step.blocked': blocked,
  'step.acquired': (run, { step }) => evolveStep(run, step, { status: 'scheduled', waitingFor: null }),
  'step.outdated': (run, { step, attempt, reason, more, from }) =>
    evolveStep(run, step, { cache: { hit: false, attempt, reason, ...given({ more, from }) } }),
  'step.started': started,
  'step.contained': (run, { step, container }) => evolveStep(run, step, { container }),
  'step.serving': (run, { step }) => evolveStep(run, step, { isReady: true }),
  'step.ending': (run, { step }) => evolveStep(run, step, { isEnding: true }),
  'step.expanded': expanded,
  'step.canceling': (run, { step, message }) => cancelInstances(run, nodeIndex(run.graph, step), message),
  'artifact.kept': artifactKept,
  'step.waiting': waiting,
  'step.ready': (run, { step }) => evolveStep(run, step, { until: null }),
  'step.held': held,
  'step.answered': answered,
  'step.finished': finished,
  'step.marked': marked,
  'run.delayed': (run, { until }) => ({ ...run, delayedUntil: until }),
  'run.canceling': canceling,
  'run.handling': (run, { status, reason, handlers }) => {
    return { ...run, status: 'handling', handling: { status, reason, handlers, interrupted: null } };
  },
  'run.warned': warned,
  'run.finished': (run, { at, status, reason, message }) => ({ ...run, status, reason, message, finishedAt: at }),
};

function evolveStep(run: RunState, step: string, change: Partial<StepState>): RunState {
  return evolveNode(run, nodeIndex(run.graph, step), change);
}

function warned(run: RunState, { step, message, clockSetMs }: Event<'run.warned'>): RunState {
  const next = { ...run, warnings: [...run.warnings, { step, message }] };
  return clockSetMs === undefined ? next : withStartsMoved(next, clockSetMs);
}

/** Moves the start of the run and of all steps that have not finished, so that durations leave out the change of the clock. */
function withStartsMoved(run: RunState, ms: number): RunState {
  let next = run.startedAt === null || run.finishedAt !== null ? run : { ...run, startedAt: run.startedAt + ms };
  for (let index = 0; index < run.nodes.length; index++) {
    const { startedAt, finishedAt } = itemAt(run.nodes, index);
    if (startedAt !== null && finishedAt === null) next = evolveNode(next, index, { startedAt: startedAt + ms });
  }
  return next;
}

function created(run: RunState, event: Event<'run.created'>): RunState {
  const { at, runId, workflow, group, file, trigger, retryOf, params, strict = false } = event;
  const { dotenv, selection, tags, queue, autoRetry, scheduledFor, previousFor } = event;
  const { startBy, lateBy, backfill } = event;
  const request = { runId, workflow, group, file, trigger, retryOf, givenParams: params, params, strict };
  const found = { dotenv, selection, tags, queue, autoRetry, scheduledFor, previousFor, startBy, lateBy, backfill };
  return { ...run, createdAt: at, ...request, ...given(found) };
}

function restored(run: RunState, event: Event<'step.restored'>): RunState {
  const { step, at, status, outputs, masked, before, result } = event;
  return settleNode(run, nodeIndex(run.graph, step), {
    status,
    outputs,
    tolerated: toleratedOf(run, { ...event, reason: before?.reason ?? null }),
    ...given({ masked, origin: before?.runId }),
    ...(before && endOf(before)),
    ...earlierResult(result),
    finishedAt: at,
    restored: true,
  });
}

function earlierResult(result: EarlierResult | undefined): Partial<StepState> {
  if (result === undefined) return {};
  const { exitCode, ...earlier } = result;
  return { exitCode, earlier };
}

function endOf({ reason, message, exitCode, signal }: Ended): Ended {
  return { reason, message, exitCode, signal };
}

/**
 * Earlier versions recorded no tolerance, since only `continueOn.failure` gave one. The decision of a person is never
 * tolerated.
 */
function toleratedOf(run: RunState, { step, status, tolerated, reason }: Ending): ToleratedBy | null {
  if (reason === 'rejected') return null;
  return tolerated ?? (status === 'failed' && stepNode(run, step).continueOn.failure ? 'failure' : null);
}

type Ending = { step: string; status: SettledStatus; tolerated?: ToleratedBy; reason?: FailureReason | null };

function scheduled(run: RunState, { step, at, attempt }: Event<'step.scheduled'>): RunState {
  const kind = handlerKind(step);
  const next = evolveStep(run, step, {
    ...(isSettled(stepState(run, step)) ? fresh : {}),
    status: 'scheduled',
    attempt,
    reason: null,
    message: '',
    exitCode: null,
    signal: null,
    process: null,
    container: null,
    isReady: false,
    isEnding: false,
    waitingFor: null,
    until: null,
    tolerated: null,
  });
  if (kind === 'wait') return { ...next, unannounced: [] };
  return kind === null ? { ...next, lastStartAt: at, delayedUntil: null } : next;
}

/** The handler `wait` starts from the beginning for each wait. */
const fresh = { startedAt: null, finishedAt: null, retries: 0, repetitions: 0 };

function started(run: RunState, { step, at, process, child, worker }: Event<'step.started'>): RunState {
  const startedAt = stepState(run, step).startedAt ?? at;
  return evolveStep(run, step, { status: 'running', process, startedAt, ...given({ child, worker }) });
}

function blocked(run: RunState, { step, attempt, at, why, name, holder }: Event<'step.blocked'>): RunState {
  const before = stepState(run, step);
  const isSame = before.waitingFor === why && before.blocked?.name === name;
  const since = isSame && before.blocked !== undefined ? before.blocked.since : at;
  const reports = 1 + (before.blocked?.attempt === attempt ? before.blocked.reports : 0);
  return evolveStep(run, step, {
    status: 'waiting',
    waitingFor: why,
    blocked: { name, holder, since, attempt, reports },
  });
}

function expanded(run: RunState, event: Event<'step.expanded'>): RunState {
  const { step, at, attempt, items } = event;
  const change = { status: 'running', attempt, startedAt: at, instances: newInstances(run, event) } as const;
  return addInstances(evolveStep(run, step, change), nodeIndex(run.graph, step), items);
}

function artifactKept(run: RunState, { step, attempt, path, bytes, sha256 }: Event<'artifact.kept'>): RunState {
  const { artifacts } = stepState(run, step);
  const files = artifacts?.attempt === attempt ? artifacts.files : vectorOf<KeptFile>([]);
  return evolveStep(run, step, { artifacts: { attempt, files: withMore(files, [{ path, bytes, sha256 }]) } });
}

/** The change by which the artifacts of an earlier attempt are gone when this one has ended. */
function artifactsAfter({ artifacts }: StepState, attempt: number): Pick<StepState, 'artifacts'> {
  if (artifacts === undefined || artifacts.attempt === attempt) return {};
  return { artifacts: { attempt, files: vectorOf([]) } };
}

function waiting(run: RunState, { step, attempt, why, until, outcome, tolerated }: Event<'step.waiting'>): RunState {
  const before = stepState(run, step);
  const result = attemptResult(outcome);
  return evolveStep(run, step, {
    status: 'waiting',
    ...endOf(result),
    outputs: result.outputs ?? before.outputs,
    ...artifactsAfter(before, attempt),
    process: null,
    waitingFor: why,
    until,
    retries: why === 'retry' ? before.retries + 1 : 0,
    repetitions: before.repetitions + Number(why === 'repeat'),
    tolerated: tolerated ?? null,
  });
}

function held(run: RunState, event: Event<'step.held'>): RunState {
  const { at, step, attempt, outputs, masked, tolerated, prompt, until } = event;
  return evolveStep({ ...run, unannounced: [...run.unannounced, step] }, step, {
    status: 'waiting',
    ...endOf(event),
    outputs,
    ...artifactsAfter(stepState(run, step), attempt),
    ...given({ masked }),
    process: null,
    waitingFor: 'approval',
    until,
    tolerated: tolerated ?? null,
    approval: { prompt, heldAt: at, until, answer: null },
  });
}

function answered(run: RunState, { at, step, answer, by, comment }: Event<'step.answered'>): RunState {
  const { approval } = stepState(run, step);
  if (approval === undefined) return run;
  return evolveStep(run, step, { approval: { ...approval, answer: { answer, by, at, comment } } });
}

function finished(run: RunState, event: Event<'step.finished'>): RunState {
  const { at, step, attempt, status, outputs, masked, cached, from = '', savedMs = 0, restored } = event;
  return settleNode(run, nodeIndex(run.graph, step), {
    status,
    attempt,
    ...endOf(event),
    outputs,
    ...artifactsAfter(stepState(run, step), attempt),
    tolerated: toleratedOf(run, event),
    ...given({ masked, cache: cached && { hit: cached, from, savedMs, ...given({ restored }) } }),
    finishedAt: at,
    process: null,
    waitingFor: null,
    until: null,
  });
}

/** Replaces how the step ended. Its outputs and times stay. */
function marked(run: RunState, { step, at, status, by, run: end }: Event<'step.marked'>): RunState {
  const isFailed = status === 'failed';
  const change: Partial<StepState> = {
    status,
    reason: isFailed ? 'error' : null,
    message: isFailed ? `marked as failed by ${by}` : '',
    exitCode: null,
    signal: null,
    tolerated: toleratedOf(run, { step, status }),
    finishedAt: stepState(run, step).finishedAt ?? at,
    restored: false,
  };
  return { ...resettleNode(run, nodeIndex(run.graph, step), change), ...end };
}

function canceling(run: RunState, event: Event<'run.canceling'>): RunState {
  const cancellation = merged(run.cancellation, event);
  const { handling } = run;
  if (handling === null) return { ...run, status: 'canceling', cancellation };
  const interrupted = handling.handlers.find((kind) => !isSettled(stepState(run, handlerName(kind)))) ?? null;
  return { ...run, cancellation, handling: { ...handling, interrupted } };
}

/** The first cause is kept, unless the journal failed: then no other result can be relied on. */
function merged(first: Cancellation | null, { reason, message, force }: Event<'run.canceling'>): Cancellation {
  if (first === null || reason === 'storage') return { reason, message, force: force || (first?.force ?? false) };
  return { ...first, force: first.force || force };
}
