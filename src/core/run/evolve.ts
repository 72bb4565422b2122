import { itemAt } from '../data/collections.ts';
import { addInstances, cancelInstances, newInstances } from '../fan-out/instances.ts';
import { nodeIndex } from '../graph.ts';
import { withRunNumbers } from '../step-numbers.ts';
import { handlerKind, handlerName } from '../workflow.ts';
import { evolveNode, resettleNode, settleNode } from './evolve-node.ts';
import { attemptResult } from './outcome.ts';
import type { EarlierEnd, EarlierResult, FailureReason, RunEvent, SettledStatus, ToleratedBy } from './run.ts';
import {
  type Cancellation,
  type Handling,
  isSettled,
  type RunState,
  type StepState,
  stepNode,
  stepState,
} from './run-state.ts';

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
  switch (event.type) {
    case 'run.created':
      return created(run, event);
    case 'run.queued':
      return queued(run, event);
    case 'run.owned':
      return { ...run, owner: event.owner, promise: null };
    case 'run.prepared':
      return prepared(run, event);
    case 'run.started':
      return { ...run, status: 'running', startedAt: event.at };
    case 'step.restored':
      return restored(run, event);
    case 'step.scheduled':
      return scheduled(run, event);
    case 'step.started':
      return started(run, event);
    case 'step.contained':
      return evolveNode(run, nodeIndex(run.graph, event.step), { container: event.container });
    case 'step.serving':
      return evolveNode(run, nodeIndex(run.graph, event.step), { isReady: true });
    case 'step.ending':
      return evolveNode(run, nodeIndex(run.graph, event.step), { isEnding: true });
    case 'step.expanded':
      return expanded(run, event);
    case 'step.canceling':
      return cancelInstances(run, nodeIndex(run.graph, event.step), event.message);
    case 'step.waiting':
      return waiting(run, event);
    case 'step.ready':
      return ready(run, event);
    case 'step.held':
      return held(run, event);
    case 'step.answered':
      return answered(run, event);
    case 'step.finished':
      return finished(run, event);
    case 'step.marked':
      return marked(run, event);
    case 'run.delayed':
      return { ...run, delayedUntil: event.until };
    case 'run.canceling':
      return canceling(run, event);
    case 'run.handling': {
      const { status, reason, handlers } = event;
      return { ...run, status: 'handling', handling: { status, reason, handlers, interrupted: null } };
    }
    case 'run.warned':
      return warned(run, event);
    case 'run.finished': {
      const { at, status, reason, message } = event;
      return { ...run, status, reason, message, finishedAt: at };
    }
  }
  throw unknownKind(event);
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

function prepared(run: RunState, { params, numbers }: Event<'run.prepared'>): RunState {
  if (numbers === undefined) return { ...run, params };
  return { ...run, params, policies: { ...run.policies, ...withRunNumbers(run.policies, numbers) } };
}

/** A second `run.queued` follows if the owner died before the first step. */
function queued(run: RunState, { by, lasting }: Event<'run.queued'>): RunState {
  return { ...run, owner: null, params: run.givenParams, promise: { by, lasting } };
}

function created(run: RunState, event: Event<'run.created'>): RunState {
  const { at, runId, workflow, group, file, trigger, retryOf, params } = event;
  const strict = event.strict === true;
  const dotenv = event.dotenv === undefined ? {} : { dotenv: event.dotenv };
  const queue = event.queue === undefined ? {} : { queue: event.queue };
  const selection = event.selection === undefined ? {} : { selection: event.selection };
  const tags = event.tags === undefined ? {} : { tags: event.tags };
  const request = {
    runId,
    workflow,
    group,
    file,
    trigger,
    retryOf,
    givenParams: params,
    params,
    strict,
    ...dotenv,
    ...selection,
    ...tags,
    ...queue,
    ...(event.autoRetry === undefined ? {} : { autoRetry: event.autoRetry }),
  };
  return { ...run, createdAt: at, ...request };
}

function restored(run: RunState, event: Event<'step.restored'>): RunState {
  const { step, at, status, outputs, before, result } = event;
  const index = nodeIndex(run.graph, step);
  const end = before === undefined ? {} : earlierEnd(before);
  const tolerated = toleratedOf(run, { ...event, reason: before?.reason ?? null });
  return settleNode(run, index, {
    status,
    outputs,
    tolerated,
    ...maskedOf(event),
    ...end,
    ...(result === undefined ? {} : resultOf(result)),
    finishedAt: at,
    restored: true,
  });
}

function resultOf({ exitCode, stdout, stderr }: EarlierResult): Partial<StepState> {
  return { exitCode, earlierLogs: { stdout, stderr } };
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

function earlierEnd({ runId, reason, message, exitCode, signal }: EarlierEnd): Partial<StepState> {
  return { origin: runId, reason, message, exitCode, signal };
}

function maskedOf({ masked }: Event<'step.restored' | 'step.finished' | 'step.held'>): Pick<StepState, 'masked'> {
  return masked === undefined ? {} : { masked };
}

function scheduled(run: RunState, { step, at, attempt }: Event<'step.scheduled'>): RunState {
  const index = nodeIndex(run.graph, step);
  const kind = handlerKind(step);
  const next = evolveNode(run, index, {
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

function started(run: RunState, { step, at, process, child }: Event<'step.started'>): RunState {
  const startedAt = stepState(run, step).startedAt ?? at;
  const link = child === undefined ? {} : { child };
  return evolveNode(run, nodeIndex(run.graph, step), { status: 'running', process, startedAt, ...link });
}

function expanded(run: RunState, event: Event<'step.expanded'>): RunState {
  const { step, at, attempt, items } = event;
  const index = nodeIndex(run.graph, step);
  const change = { status: 'running', attempt, startedAt: at, instances: newInstances(run, event) } as const;
  return addInstances(evolveNode(run, index, change), index, items);
}

function waiting(run: RunState, { step, why, until, outcome, tolerated }: Event<'step.waiting'>): RunState {
  const before = stepState(run, step);
  const { reason, message, exitCode, signal, outputs } = attemptResult(outcome);
  return evolveNode(run, nodeIndex(run.graph, step), {
    status: 'waiting',
    reason,
    message,
    exitCode,
    signal,
    outputs: outputs ?? before.outputs,
    process: null,
    waitingFor: why,
    until,
    retries: why === 'retry' ? before.retries + 1 : 0,
    repetitions: before.repetitions + Number(why === 'repeat'),
    tolerated: tolerated ?? null,
  });
}

function ready(run: RunState, { step }: Event<'step.ready'>): RunState {
  const index = nodeIndex(run.graph, step);
  return evolveNode(run, index, { until: null });
}

function held(run: RunState, event: Event<'step.held'>): RunState {
  const { at, step, reason, message, exitCode, signal, outputs, tolerated, prompt, until } = event;
  return evolveNode({ ...run, unannounced: [...run.unannounced, step] }, nodeIndex(run.graph, step), {
    status: 'waiting',
    reason,
    message,
    exitCode,
    signal,
    outputs,
    ...maskedOf(event),
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
  return evolveNode(run, nodeIndex(run.graph, step), {
    approval: { ...approval, answer: { answer, by, at, comment } },
  });
}

function finished(run: RunState, event: Event<'step.finished'>): RunState {
  const { at, step, attempt, status, reason, message, exitCode, signal, outputs } = event;
  return settleNode(run, nodeIndex(run.graph, step), {
    status,
    attempt,
    reason,
    message,
    exitCode,
    signal,
    outputs,
    tolerated: toleratedOf(run, event),
    ...maskedOf(event),
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
  if (run.handling === null) return { ...run, status: 'canceling', cancellation };
  return { ...run, cancellation, handling: interrupted(run, run.handling) };
}

/** The first cause is kept, unless the journal failed: then no other result can be relied on. */
function merged(first: Cancellation | null, { reason, message, force }: Event<'run.canceling'>): Cancellation {
  if (first === null || reason === 'storage') return { reason, message, force: force || (first?.force ?? false) };
  return { ...first, force: first.force || force };
}

function interrupted(run: RunState, handling: Handling): Handling {
  const current = handling.handlers.find((kind) => !isSettled(stepState(run, handlerName(kind))));
  return { ...handling, interrupted: current ?? null };
}

function unknownKind(event: never): Error {
  const { type } = event as RunEvent;
  return new Error(`The journal contains an event of a type that this version of wf does not know: "${type}".`);
}
