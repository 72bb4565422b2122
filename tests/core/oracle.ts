import type { RestoredStep, RunEvent, SettledStatus } from '#core/run/run.ts';
import { type HandlerKind, handlerName, type Step } from '#core/workflow.ts';
import { type Case, factOf, failureCode, outcomeKind } from './arbitrary-case.ts';

type Ending = { readonly status: string; readonly reason: string | null };

/**
 * How each step must end if the run is not canceled, derived from the workflow and the scripts alone, without any
 * notion of time or order. Null for a run that continues until it is stopped.
 */
export function expectedStatuses(made: Case): Readonly<Record<string, SettledStatus>> | null {
  const known = new Map<string, SettledStatus>(restoredSteps(made).map(({ step, status }) => [step, status]));
  if (hasInitFailed(made)) {
    const ends = made.workflow.steps.map((step) => {
      const isComplete = restoredItems(made, step)?.every(({ isRestored }) => isRestored) ?? false;
      return [step.name, known.get(step.name) ?? (isComplete ? comesTo(made, step).status : 'upstream_failed')];
    });
    return Object.fromEntries(ends);
  }
  if (made.workflow.steps.some((step) => isEndless(made, step))) return null;
  const byName = new Map(made.workflow.steps.map((step) => [step.name, step]));
  const settle = (name: string): SettledStatus => {
    const step = byName.get(name);
    if (step === undefined) throw new Error(name);
    const blocking = step.depends.map((dependency) => ({
      dependency,
      status: known.get(dependency) ?? settle(dependency),
    }));
    const status =
      known.get(name) ??
      statusAfter(
        made,
        step,
        blocking.filter((one) => !passes(made, byName, one)),
      );
    known.set(name, status);
    return status;
  };
  return Object.fromEntries(made.workflow.steps.map(({ name }) => [name, settle(name)]));
}

/** How the run must end: by its cancels, or by its steps and handlers. */
export function expectedEnding(
  made: Case,
  statuses: Readonly<Record<string, string>>,
  events: readonly RunEvent[],
): Ending {
  const reasons = events.flatMap((event) => (event.type === 'run.canceling' ? [event.reason] : []));
  const reason = reasons.includes('storage') ? 'storage' : reasons[0];
  if (reason !== undefined) return { status: reason === 'stop' ? 'canceled' : 'failed', reason };
  if (hasInitFailed(made)) return { status: 'failed', reason: 'handler' };
  const hasFailed = (step: Step) =>
    ['canceled', 'upstream_failed'].includes(statuses[step.name] ?? '') ||
    (statuses[step.name] === 'failed' && !isTolerated(made, step));
  if (made.workflow.steps.some(hasFailed)) return { status: 'failed', reason: 'step' };
  const isPartial = made.workflow.steps.some(({ name }) => !['succeeded', 'skipped'].includes(statuses[name] ?? ''));
  const handlers = [made.workflow.handlers.success, made.workflow.handlers.exit].filter((handler) => handler !== null);
  const failedHandler = handlers.find((handler) => {
    const { status, isTolerated } = attemptsComeTo(made, handler);
    return status === 'canceled' || (status === 'failed' && !isTolerated);
  });
  if (failedHandler !== undefined) return { status: 'failed', reason: 'handler' };
  return { status: isPartial ? 'partially_succeeded' : 'succeeded', reason: null };
}

/** The handlers that must have been listed for the end of the run without them. */
export function expectedHandlers({ workflow }: Case, status: string): readonly string[] {
  const outcome: HandlerKind = status === 'canceled' ? 'cancel' : status === 'failed' ? 'failure' : 'success';
  return [outcome, 'exit' as const].filter((kind) => workflow.handlers[kind] !== null).map((kind) => handlerName(kind));
}

function hasInitFailed(made: Case): boolean {
  const { init } = made.workflow.handlers;
  if (!init) return false;
  const { status, isTolerated } = attemptsComeTo(made, init);
  return status === 'canceled' || (status === 'failed' && !isTolerated);
}

/** Repeats after successes and tolerated failures until it is stopped (a skip or cancel of its script ends it too). */
function isEndless(made: Case, step: Step): boolean {
  const { repeat, continueOn } = step;
  if (repeat === null || repeat.mode !== undefined || repeat.limit !== undefined) return false;
  return (
    continueOn.failure || continueOn.exitCodes?.includes(failureCode(made, step, Number.POSITIVE_INFINITY)) === true
  );
}

/** Restored failures are tolerated by `continueOn.failure` alone, since nothing else was recorded. */
function isTolerated(made: Case, step: Step): boolean {
  const isRestored = restoredSteps(made).some(({ step: name }) => name === step.name);
  return isRestored ? step.continueOn.failure : comesTo(made, step).isTolerated;
}

function passes(
  made: Case,
  steps: ReadonlyMap<string, Step>,
  { dependency, status }: { readonly dependency: string; readonly status: SettledStatus },
): boolean {
  const step = steps.get(dependency);
  if (restoredSteps(made).some(({ step: name }) => name === dependency) || status === 'succeeded') return true;
  if (step === undefined) return false;
  return (status === 'failed' && isTolerated(made, step)) || (status === 'skipped' && step.continueOn.skipped);
}

function statusAfter(made: Case, step: Step, blocking: readonly { readonly status: SettledStatus }[]): SettledStatus {
  if (blocking.length === 0) return comesTo(made, step).status;
  return blocking.every(({ status }) => status === 'skipped') ? 'skipped' : 'upstream_failed';
}

function restoredSteps({ restored }: Case): readonly RestoredStep[] {
  return restored.flatMap((one) => ('items' in one ? [] : [one]));
}

/** The items of a fan-out that were taken over, and whether their instances were too; null if none were. */
function restoredItems({ restored }: Case, { name }: Step): readonly { readonly isRestored: boolean }[] | null {
  const kept = restored.find((one) => 'items' in one && one.step === name);
  if (kept === undefined || !('items' in kept)) return null;
  const names = new Set(kept.instances.map(({ step }) => step));
  return kept.items.map(({ key }) => ({ isRestored: names.has(`${name}[${key}]`) }));
}

/** A fan-out fails if an instance does; otherwise it is as the instance that is worst. */
function comesTo(made: Case, step: Step): Coming {
  if (step.fanOut === undefined) return attemptsComeTo(made, step);
  const kept = made.restored.flatMap((one) => ('items' in one && one.step === step.name ? [one] : []))[0];
  if (kept === undefined) {
    const evaluation = attemptsComeTo(made, { ...step, retry: { limit: 0, intervalMs: 0 }, repeat: null });
    if (outcomeKind(made, step, 1) !== 'succeeded') return evaluation;
  }
  const { fanOut: _, ...base } = step;
  const ends = (made.items[step.name] ?? []).map((key) => {
    const name = `${step.name}[${key}]`;
    const before = kept?.instances.find((instance) => instance.step === name);
    if (before === undefined) return attemptsComeTo(made, { ...base, name });
    return { status: before.status, isTolerated: before.status === 'failed' && step.continueOn.failure };
  });
  const has = (status: SettledStatus, isTolerated: boolean) =>
    ends.some((end) => end.status === status && end.isTolerated === isTolerated);
  if (has('failed', false)) return { status: 'failed', isTolerated: false };
  if (has('canceled', false)) return { status: 'canceled', isTolerated: false };
  if (has('failed', true)) return { status: 'failed', isTolerated: true };
  const isSkipped = ends.length > 0 && ends.every(({ status }) => status === 'skipped');
  return { status: isSkipped ? 'skipped' : 'succeeded', isTolerated: false };
}

type Coming = { readonly status: SettledStatus; readonly isTolerated: boolean };

/** What the attempts come to, and then the decision of a person or of the time limit. */
function attemptsComeTo(made: Case, node: Step): Coming {
  const coming = lastAttemptComesTo(made, node);
  const { approval } = node;
  const isPassing = coming.status === 'succeeded' || (coming.status === 'failed' && coming.isTolerated);
  if (approval === undefined || !isPassing) return coming;
  const isRejected = approval.timeoutMs > 0 ? approval.onTimeout === 'reject' : made.answers[node.name] === 'rejected';
  return isRejected ? { status: 'failed', isTolerated: false } : coming;
}

function lastAttemptComesTo(made: Case, node: Step): Coming {
  const { retry, repeat } = node;
  let retriesLeft = retry.limit;
  let repetition = 1;
  for (let attempt = 1; ; attempt += 1) {
    const kind = outcomeKind(made, node, attempt);
    if (kind === 'skipped' || kind === 'canceled') return { status: kind, isTolerated: false };
    const code = kind === 'failed' ? failureCode(made, node, attempt) : 0;
    const { conditionMet, outputMatched } = factOf(made, node, attempt);
    const mayRetry = retry.exitCodes?.includes(code) ?? !(node.continueOn.exitCodes?.includes(code) ?? false);
    if (kind === 'failed' && retriesLeft > 0 && mayRetry) {
      retriesLeft -= 1;
      continue;
    }
    const isTolerable =
      node.continueOn.failure ||
      (node.continueOn.exitCodes ?? []).includes(code) ||
      (node.continueOn.output !== undefined && outputMatched);
    const ending = endOf(node, kind === 'failed', isTolerable);
    if (repeat === null) return ending;
    const isMet = repeat.condition === undefined ? (repeat.exitCodes ?? []).includes(code) : conditionMet;
    const byMode = { while: isMet, until: !isMet, always: kind === 'succeeded' || isTolerable };
    if (!byMode[repeat.mode ?? 'always']) return ending;
    if (repetition === (repeat.limit ?? Number.POSITIVE_INFINITY)) {
      return repeat.mode === 'until' ? unmetEnd(node, code, outputMatched) : ending;
    }
    repetition += 1;
    retriesLeft = retry.limit;
  }
}

function endOf({ continueOn }: Step, hasFailed: boolean, isTolerable: boolean): Coming {
  if (!hasFailed) return { status: 'succeeded', isTolerated: false };
  const status = isTolerable && continueOn.markSuccess === true ? 'succeeded' : 'failed';
  return { status, isTolerated: isTolerable };
}

/** A step that repeats until a condition and never meets it has failed, with the exit code of its last repetition. */
function unmetEnd(node: Step, code: number, outputMatched: boolean): Coming {
  const { failure, exitCodes = [], output } = node.continueOn;
  return endOf(node, true, failure || exitCodes.includes(code) || (output !== undefined && outputMatched));
}
