import type { RunEvent, SettledStatus } from '../../src/core/run/run.ts';
import { type HandlerKind, handlerName, type Step } from '../../src/core/workflow.ts';
import { type Case, outcomeKind } from './arbitrary-case.ts';

type Ending = { readonly status: string; readonly reason: string | null };

/**
 * How each step must end if the run is not canceled, derived from the workflow and the scripts alone, without any
 * notion of time or order. Null for a run that continues until it is stopped.
 */
export function expectedStatuses(made: Case): Readonly<Record<string, SettledStatus>> | null {
  const known = new Map<string, SettledStatus>(made.restored.map(({ step, status }) => [step, status]));
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
  if (made.workflow.steps.some(isEndless)) return null;
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
  const hasFailed = ({ name, continueOn }: Step) =>
    ['canceled', 'upstream_failed'].includes(statuses[name] ?? '') ||
    (statuses[name] === 'failed' && !continueOn.failure);
  if (made.workflow.steps.some(hasFailed)) return { status: 'failed', reason: 'step' };
  const isPartial = made.workflow.steps.some(({ name }) => !['succeeded', 'skipped'].includes(statuses[name] ?? ''));
  const handlers = [made.workflow.handlers.success, made.workflow.handlers.exit].filter((handler) => handler !== null);
  const failedHandler = handlers.find((handler) => {
    const status = attemptsComeTo(made, handler);
    return status === 'canceled' || (status === 'failed' && !handler.continueOn.failure);
  });
  if (failedHandler !== undefined) return { status: 'failed', reason: 'handler' };
  return { status: isPartial ? 'partially_succeeded' : 'succeeded', reason: null };
}

/** The handlers that must have been listed for the end of the run without them. */
export function expectedHandlers({ workflow }: Case, status: string): readonly string[] {
  const outcome: HandlerKind = status === 'canceled' ? 'cancel' : status === 'failed' ? 'failure' : 'success';
  return [outcome, 'exit' as const].filter((kind) => workflow.handlers[kind] !== null).map((kind) => handlerName(kind));
}

/** Repeats after successes and tolerated failures until it is stopped (a skip or cancel of its script ends it too). */
function isEndless({ repeat, continueOn }: Step): boolean {
  return repeat !== null && continueOn.failure;
}

function passes(
  made: Case,
  steps: ReadonlyMap<string, Step>,
  { dependency, status }: { readonly dependency: string; readonly status: SettledStatus },
): boolean {
  const continueOn = steps.get(dependency)?.continueOn;
  if (made.restored.some(({ step }) => step === dependency) || status === 'succeeded') return true;
  return (
    (status === 'failed' && continueOn?.failure === true) || (status === 'skipped' && continueOn?.skipped === true)
  );
}

function statusAfter(made: Case, step: Step, blocking: readonly { readonly status: SettledStatus }[]): SettledStatus {
  if (blocking.length === 0) return attemptsComeTo(made, step);
  return blocking.every(({ status }) => status === 'skipped') ? 'skipped' : 'upstream_failed';
}

function attemptsComeTo(made: Case, node: Step): SettledStatus {
  let retriesLeft = node.retry.limit;
  for (let attempt = 1; ; attempt += 1) {
    const kind = outcomeKind(made, node, attempt);
    if (kind === 'failed' && retriesLeft > 0) retriesLeft -= 1;
    else if (kind === 'succeeded' && node.repeat !== null) retriesLeft = node.retry.limit;
    else return kind;
  }
}
