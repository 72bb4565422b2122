import { given } from '../data/collections.ts';
import { fanOutOf, fanOutResult } from '../fan-out/instances.ts';
import { MAX_INSTANCES, MAX_ITEMS } from '../fan-out/items.ts';
import { nodeIndex } from '../graph.ts';
import { withNumbers } from '../step-numbers.ts';
import { handlerKind } from '../workflow.ts';
import { backgroundOutcome, cancel, cancelFanOut, endBackgroundSteps, lose } from './cancel.ts';
import { type Draft, evolve, record } from './evolve.ts';
import type { StepEnd } from './outcome.ts';
import { followUp, lastResult } from './policies.ts';
import type { FinishedStatus, Outcome, RestoredItems, RestoredStep, RunEnd, RunEvent, RunInput } from './run.ts';
import {
  hasAttempt,
  instancesOf,
  isActive,
  isBlocked,
  isFinished,
  isSettled,
  type RunState,
  type StepState,
  stepNode,
  stepState,
} from './run-state.ts';
import {
  announceWaits,
  beginHandling,
  continueHandling,
  endDelay,
  initialize,
  lastEnd,
  scheduleReady,
  settle,
  settleDue,
  warnOfHandler,
} from './settle.ts';
import { verdict, verdictOfSteps } from './verdict.ts';

type Input<Type extends RunInput['type']> = Extract<RunInput, { type: Type }>;

/** The result of an input: the events, and the new state, which is the fold of the events over the old state. */
export type Decision = { readonly run: RunState; readonly events: readonly RunEvent[] };

/**
 * The only place that decides what a run does next. Pure: the time comes from the input. A late or repeated input
 * leads to no events and the same state. `ahead`: see `scheduleReady`. Throws for an unknown step.
 */
export function transition(run: RunState, input: RunInput, ahead = 0): Decision {
  if (isFinished(run) !== (input.type === 'mark')) return { run, events: [] };
  const draft: Draft = { run, events: [] };
  take[input.type](draft, input as never);
  advance(draft, input.at, ahead);
  return draft;
}

const take: { readonly [Type in RunInput['type']]: (draft: Draft, input: Input<Type>) => void } = {
  start,
  refuse,
  'attempt-blocked': attemptBlocked,
  'attempt-acquired': attemptAcquired,
  'attempt-checked': attemptChecked,
  'attempt-started': attemptStarted,
  'attempt-contained': attemptContained,
  'attempt-serving': attemptServing,
  'items-read': itemsRead,
  'attempt-ended': attemptEnded,
  'timer-fired': timerFired,
  'delay-over': (draft, { at }) => endDelay(draft, at),
  'late-due': lateDue,
  cancel,
  lost: lose,
  answer,
  mark,
};

/** Applies what follows from the new state, whatever the input was. */
function advance(draft: Draft, at: number, ahead: number): void {
  if (isFinished(draft.run) || draft.run.status === 'queued') return;
  if (draft.run.handling === null) {
    if (!initialize(draft, at)) return;
    announceWaits(draft, at);
    settleDue(draft, at);
    scheduleReady(draft, at, ahead);
    if (draft.run.settled < draft.run.graph.stepCount) {
      endBackgroundSteps(draft, at);
      return;
    }
    beginHandling(draft, at);
  } else announceWaits(draft, at);
  continueHandling(draft, at);
}

function start(draft: Draft, { at, restored }: Input<'start'>): void {
  if (draft.run.status !== 'queued') return;
  record(draft, { type: 'run.started', at });
  for (const one of restored) {
    if ('items' in one) restoreItems(draft, at, one);
    else if (one.held === undefined) restoreStep(draft, at, one);
    else holdRestored(draft, at, one);
  }
}

function restoreStep(draft: Draft, at: number, { kept = [], ...restored }: RestoredStep): void {
  for (const file of kept) record(draft, { type: 'artifact.kept', at, step: restored.step, attempt: 0, ...file });
  record(draft, { type: 'step.restored', at, ...restored });
}

function restoreItems(draft: Draft, at: number, { step, items, instances, maxConcurrent }: RestoredItems): void {
  record(draft, { type: 'step.expanded', at, step, attempt: 0, items, ...given({ maxConcurrent }) });
  for (const instance of instances) restoreStep(draft, at, instance);
}

function refuse(draft: Draft, { at, reason, message }: Input<'refuse'>): void {
  if (draft.run.status !== 'queued') return;
  const status = reason === 'precondition' ? 'skipped' : 'failed';
  record(draft, { type: 'run.finished', at, status, reason, message });
}

function attemptBlocked(draft: Draft, input: Input<'attempt-blocked'>): void {
  const { at, step, attempt, why, name, holder, report } = input;
  const state = stepState(draft.run, step);
  const mayWait = state.status === 'scheduled' || isBlocked(state);
  if (mayWait && attempt === state.attempt && report === blockedReports(state) + 1)
    record(draft, { type: 'step.blocked', at, step, attempt, why, name, holder });
}

function attemptAcquired(draft: Draft, { at, step, attempt, report }: Input<'attempt-acquired'>): void {
  const state = stepState(draft.run, step);
  if (isBlocked(state) && attempt === state.attempt && report === blockedReports(state))
    record(draft, { type: 'step.acquired', at, step, attempt });
}

/** How often the present attempt reported that it waits. */
function blockedReports({ blocked, attempt }: StepState): number {
  return blocked?.attempt === attempt ? blocked.reports : 0;
}

function attemptChecked(draft: Draft, { at, step, attempt, reason, more, from }: Input<'attempt-checked'>): void {
  const { status, attempt: present, cache } = stepState(draft.run, step);
  const isChecked = cache?.hit === false && cache.attempt === attempt;
  if (status === 'scheduled' && attempt === present && !isChecked)
    record(draft, { type: 'step.outdated', at, step, attempt, reason, ...given({ more, from }) });
}

function attemptStarted(draft: Draft, input: Input<'attempt-started'>): void {
  const { at, step, attempt, process, child, childWorkflow, worker } = input;
  const { status, attempt: present } = stepState(draft.run, step);
  if (status === 'scheduled' && attempt === present)
    record(draft, { type: 'step.started', at, step, attempt, process, ...given({ child, childWorkflow, worker }) });
}

function attemptContained(draft: Draft, { at, step, attempt, container, daemon }: Input<'attempt-contained'>): void {
  const state = stepState(draft.run, step);
  if (state.status === 'running' && attempt === state.attempt && state.container === null)
    record(draft, { type: 'step.contained', at, step, attempt, container, daemon });
}

function attemptServing(draft: Draft, { at, step, attempt }: Input<'attempt-serving'>): void {
  const state = stepState(draft.run, step);
  const isStarting = state.status === 'running' && attempt === state.attempt && !state.isReady && !state.isEnding;
  if (isStarting && stepNode(draft.run, step).service !== undefined)
    record(draft, { type: 'step.serving', at, step, attempt });
}

function itemsRead(draft: Draft, { at, step, attempt, items, maxConcurrent }: Input<'items-read'>): void {
  const state = stepState(draft.run, step);
  if (!isActive(state) || attempt !== state.attempt) return;
  const isUnwanted = isEnding(draft.run, state);
  const problem = tooManyItems(draft.run, items.length);
  if (isUnwanted) settle(draft, at, state, { status: 'canceled', message: 'stopped' });
  else if (problem !== null) settle(draft, at, state, { status: 'failed', reason: 'error', message: problem });
  else record(draft, { type: 'step.expanded', at, step, attempt, items, ...given({ maxConcurrent }) });
}

function tooManyItems({ graph, nodes }: RunState, count: number): string | null {
  if (count > MAX_ITEMS) return `${count} items: a step takes at most ${MAX_ITEMS}`;
  const handlers = graph.nodes.slice(graph.stepCount).filter(({ name }) => handlerKind(name) !== null).length;
  const before = nodes.length - graph.stepCount - handlers;
  if (before + count <= MAX_INSTANCES) return null;
  const items = count === 1 ? '1 item' : `${count} items`;
  return `${items}: the run has ${before} instances of other steps and takes at most ${MAX_INSTANCES}`;
}

function attemptEnded(draft: Draft, input: Input<'attempt-ended'>): void {
  const { at, step, attempt, outcome: reported, facts, kept = [], upToDate } = input;
  const state = stepState(draft.run, step);
  if (!hasAttempt(state) || attempt !== state.attempt) return;
  for (const file of kept) record(draft, { type: 'artifact.kept', at, step, attempt, ...file });
  const outcome = backgroundOutcome(draft.run, nodeIndex(draft.run.graph, step), withCause(draft.run, reported));
  const written = stepNode(draft.run, step);
  const node = withNumbers(written, facts?.numbers ?? []);
  const isUnwanted = isEnding(draft.run, state);
  // Without the numbers of its policies, the attempt has failed for good. The policies of a fan-out are for its instances.
  const isLast =
    isUnwanted || (written.numbers !== undefined && facts?.numbers === undefined) || node.fanOut !== undefined;
  const next = isLast ? lastResult(node, outcome, facts) : followUp(node, state, outcome, facts);
  if ('why' in next) {
    const { why, waitMs, tolerated } = next;
    const wait = { why, until: at + waitMs, outcome, ...given({ tolerated }) };
    record(draft, { type: 'step.waiting', at, step, attempt, ...wait });
  } else if (node.approval !== undefined && !isUnwanted && isPassing(next)) {
    hold(draft, at, state, { ...next, prompt: facts?.prompt ?? '', limitMs: node.approval.timeoutMs });
  } else {
    settle(draft, at, state, upToDate === undefined ? next : { ...next, upToDate });
    warnOfHandler(draft, at, state);
    if (next.status === 'failed' && next.tolerated === null) failFast(draft, at, state);
  }
}

/** Whether the dependents of a step with this end of its last attempt start. */
function isPassing({ status, tolerated }: StepEnd): boolean {
  return status === 'succeeded' || (status === 'failed' && tolerated !== null);
}

/** Cancels the other instances of a fan-out after the failure of this one, if it is to. */
function failFast(draft: Draft, at: number, instance: StepState): void {
  const fanOut = fanOutOf(draft.run, instance);
  if (fanOut === null || fanOut.instances?.canceling !== null) return;
  if (stepNode(draft.run, fanOut.name).fanOut?.failFast === true)
    cancelFanOut(draft, at, fanOut, `"${instance.name}" failed`);
}

/**
 * Adds the cause of an attempt's end: its executor knows that the attempt was ended, but not that the run's time limit
 * ended it.
 */
function withCause({ cancellation, handling }: RunState, outcome: Outcome): Outcome {
  const isOurs = outcome.status === 'canceled' && handling === null && cancellation?.reason === 'timeout';
  return isOurs ? { ...outcome, message: 'timed out' } : outcome;
}

function timerFired(draft: Draft, { at, step, attempt }: Input<'timer-fired'>): void {
  const state = stepState(draft.run, step);
  const isDue = state.status === 'waiting' && state.until !== null && state.attempt === attempt;
  if (isDue && state.waitingFor === 'approval') expire(draft, at, state);
  else if (isDue) record(draft, { type: 'step.ready', at, step });
}

/** What is late is recorded once, while it has not ended. */
function lateDue(draft: Draft, { at, step }: Input<'late-due'>): void {
  if (step === null) {
    if (draft.run.lateAt === undefined) record(draft, { type: 'run.late', at });
    return;
  }
  const state = stepState(draft.run, step);
  if (state.status !== 'pending' && !isSettled(state) && state.lateAt === undefined)
    record(draft, { type: 'step.late', at, step });
}

/**
 * Whether the present attempt is the last: the run or its fan-out is being canceled, or the run was canceled while this
 * handler ran, or no step needs this service any more.
 */
function isEnding(run: RunState, step: StepState): boolean {
  const kind = handlerKind(step.name);
  const isUnwanted = step.isEnding || (fanOutOf(run, step)?.instances?.canceling ?? null) !== null;
  if (kind === null || kind === 'init' || kind === 'wait') return run.cancellation !== null || isUnwanted;
  return run.handling?.interrupted === kind;
}

/** Records how a user marked a step of a finished run, and the resulting status of the run. */
function mark(draft: Draft, { at, step, status, by }: Input<'mark'>): void {
  const { run } = draft;
  const state = stepState(run, step);
  if (state.status === status) return;
  const event = { type: 'step.marked', at, step, status, by } as const;
  const marked = evolve(run, { ...event, run: presentVerdict(run) });
  record(draft, { ...event, run: verdictAfterMark(marked) });
  // A fan-out ends as its instances do, one of which was marked.
  const fanOut = fanOutOf(draft.run, state);
  if (fanOut === null || !instancesOf(draft.run, fanOut).every(isSettled)) return;
  const { status: end } = fanOutResult(draft.run, fanOut);
  if (end === 'succeeded' || end === 'failed') mark(draft, { type: 'mark', at, step: fanOut.name, status: end, by });
}

/**
 * If every step is done, the run counts as one that was not ended early. Otherwise the status is computed again only
 * if the steps decided it: a run that was stopped, timed out or lost stays so.
 */
function verdictAfterMark(run: RunState): RunEnd {
  const { counts, tolerated, graph, reason } = run;
  const done = counts.succeeded + counts.skipped + tolerated;
  if (done === graph.stepCount) return verdict({ ...run, cancellation: null });
  if (reason !== null && reason !== 'step' && reason !== 'handler') return presentVerdict(run);
  const judged = verdictOfSteps(run);
  return judged.message === '' ? { ...judged, message: notRunText(counts) } : judged;
}

/** The message of a run whose failures were all marked as succeeded, while their dependents have not run. */
function notRunText({ pending, upstream_failed }: RunState['counts']): string {
  const count = pending + upstream_failed;
  return count === 1 ? '1 step was not run' : `${count} steps were not run`;
}

function presentVerdict({ status, reason, message }: RunState): RunEnd {
  // A finished run has a finished status.
  return { status: status as FinishedStatus, reason, message };
}

/** The end of a step's last attempt, the text for the person who decides, and for how long; 0: without a limit. */
type Held = Omit<StepEnd, 'status'> & { readonly prompt: string; readonly limitMs: number };

/** Holds a step until a person answers. */
function hold(draft: Draft, at: number, { name: step, attempt, outputs: before }: StepState, held: Held): void {
  const { reason, message, exitCode, signal, tolerated, prompt, limitMs } = held;
  const end = { reason, message, exitCode, signal, outputs: held.outputs ?? before, ...given({ tolerated }) };
  const until = limitMs === 0 ? null : at + limitMs;
  record(draft, { type: 'step.held', at, step, attempt, ...end, prompt, until });
}

/** Asks again for a step whose command ran in the run being retried. */
function holdRestored(draft: Draft, at: number, restored: RestoredStep): void {
  const { step, outputs, before, held: prompt = '', tolerated = null } = restored;
  const limitMs = restored.limitMs ?? stepNode(draft.run, step).approval?.timeoutMs ?? 0;
  const end = { reason: null, message: '', exitCode: null, signal: null, ...before };
  hold(draft, at, stepState(draft.run, step), { ...end, outputs, tolerated, prompt, limitMs });
}

/** Settles a held step as a person decided. The first answer counts; any other changes nothing. */
function answer(draft: Draft, { at, step, decision, by, comment, inputs }: Omit<Input<'answer'>, 'type'>): void {
  const state = stepState(draft.run, step);
  if (state.waitingFor !== 'approval') return;
  record(draft, { type: 'step.answered', at, step, answer: decision, by, comment, inputs });
  if (decision === 'approved') {
    settle(draft, at, state, { ...lastEnd(draft.run, state), outputs: { ...state.outputs, ...inputs } });
    return;
  }
  const who = by === null ? 'rejected' : `rejected by ${by}`;
  const why = comment.replace(/\s+/g, ' ').trim();
  const message = why === '' ? who : `${who}: ${why}`;
  settle(draft, at, state, { status: 'failed', reason: 'rejected', message, exitCode: null, signal: null });
}

/** Answers for the person who did not in time. */
function expire(draft: Draft, at: number, { name, approval }: StepState): void {
  const limitMs = (approval?.until ?? at) - (approval?.heldAt ?? at);
  const { onTimeout = 'reject', inputs = [] } = stepNode(draft.run, name).approval ?? {};
  const comment = `not answered within ${limitMs / 1000}s`;
  const defaults = Object.fromEntries(inputs.map((input) => [input.name, input.default]));
  const isApproved = onTimeout === 'approve';
  const answered = { decision: isApproved ? 'approved' : 'rejected', inputs: isApproved ? defaults : {} } as const;
  answer(draft, { at, step: name, by: null, comment, ...answered });
}
