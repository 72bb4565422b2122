import { isNamed, namedStep } from '#core/fan-out/instance-name.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { didYouMean, nearNames } from '#language/near-names.ts';
import type { RunLogs } from '#store/logs.ts';
import { WfError } from '#system/errors.ts';
import type { PastRun } from './past-run.ts';

/** A run with its logs, on this machine or of a daemon; `stored` is null if its stored workflow is lost. */
export type LoggedRun = Pick<PastRun, 'state'> & {
  readonly stored: { readonly events: readonly StoredEvent[]; readonly logs: RunLogs } | null;
};

/** One attempt at one step or handler. */
export type AttemptReference = { readonly step: string; readonly attempt: number };

/** Selects attempts; null: of all steps, and all attempts of each. `only`: of these nodes of the step. */
export type AttemptFilter = {
  readonly step: string | null;
  readonly attempt: number | 'last' | null;
  readonly only?: ReadonlySet<string> | null;
};

/**
 * Returns the attempts of a run in the order in which they began. Throws a `WfError` `not-found` for an unknown step or
 * attempt.
 */
export function attemptsOf(run: LoggedRun, filter: AttemptFilter): readonly AttemptReference[] {
  if (filter.step !== null) requireStep(run, filter.step);
  const isWanted = isSelected(run, filter);
  const begun = begunAttempts(run.stored?.events ?? []).filter(({ step }) => isWanted(step));
  const last = new Map(begun.map(({ step, attempt }) => [step, attempt]));
  const wanted = (step: string) => (filter.attempt === 'last' ? last.get(step) : filter.attempt);
  const chosen = begun.filter(({ step, attempt }) => attempt === (wanted(step) ?? attempt));
  if (typeof filter.attempt === 'number' && chosen.length === 0 && (filter.step !== null || begun.length > 0)) {
    throw new WfError('not-found', attemptsHad(filter.step, [...last.values()]));
  }
  return chosen;
}

/** Whether a filter selects the attempts at a step or an instance. */
export function isSelected({ state }: LoggedRun, { step, only = null }: AttemptFilter): (step: string) => boolean {
  const isWanted = isNamed(state, step);
  return (name) => isWanted(name) && (only === null || only.has(name));
}

/** `last`: the number of attempts of the step, of each instance of a fan-out, or of all steps. */
function attemptsHad(step: string | null, last: readonly number[]): string {
  const most = last.reduce((one, other) => Math.max(one, other), 0);
  const attempts = `${most} ${most === 1 ? 'attempt' : 'attempts'}`;
  return step === null ? `no step had more than ${attempts} in this run` : `step "${step}" had ${attempts} in this run`;
}

/** Returns the attempts in the events, in the order in which they began. */
function begunAttempts(events: readonly StoredEvent[]): readonly AttemptReference[] {
  return events.flatMap((event) =>
    event.type === 'step.started' ? [{ step: event.step, attempt: event.attempt }] : [],
  );
}

function requireStep({ state, stored }: LoggedRun, step: string): void {
  if (namedStep(state, step) !== null) return;
  if (stored === null)
    throw new WfError('not-found', 'the stored workflow of the run is lost, and with it the locations of its logs');
  const names = state.graph.nodes.filter(({ instanceOf }) => instanceOf === undefined).map(({ name }) => name);
  // An instance is suggested, but not listed: there may be very many.
  throw new WfError('not-found', `the run has no step "${step}"`, {
    help: didYouMean(nearNames(step, [...state.graph.index.keys()])) || `its steps: ${names.join(', ')}`,
  });
}
