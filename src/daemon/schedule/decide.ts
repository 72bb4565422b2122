import type { Schedule } from '../../core/workflow.ts';
import type { ScheduleKind } from './rules.ts';

/** The moments at which a workflow was due and that nobody has looked at yet, ascending, by what was due. */
export type DueMoments = { readonly [kind in ScheduleKind]: readonly number[] };

/** Something to be done for a workflow. `isLate`: it was due so long ago that it is made up for. */
export type Action = { readonly kind: ScheduleKind; readonly moment: number; readonly isLate: boolean };

/** What to do, in this order, and what is too late for. */
export type Decision = { readonly actions: readonly Action[]; readonly missed: readonly Omit<Action, 'isLate'>[] };

/** A moment so long ago still counts as on time: a busy machine, or the restart of the daemon. */
const onTimeMs = 60_000;
/** The most runs that are made up for. */
const mostCaughtUp = 100;

const order: readonly ScheduleKind[] = ['stop', 'restart', 'start'];

/**
 * Decides about everything that is due for one workflow at once. Of late starts as many count as `catchup` says; a late
 * stop or restart is done once. What a later stop would have ended is not started any more.
 */
export function decide(due: DueMoments, policy: Pick<Schedule, 'catchup' | 'catchupWindowMs'>, now: number): Decision {
  const lastStop = due.stop.at(-1) ?? Number.NEGATIVE_INFINITY;
  const decided = order.map((kind) => {
    const moments = [...new Set(due[kind])].sort((a, b) => a - b);
    const onTime = moments.filter((moment) => moment > now - onTimeMs);
    const late = moments.slice(0, moments.length - onTime.length);
    const possible = late.filter((moment) => isPossible(moment, policy, now) && (kind === 'stop' || moment > lastStop));
    const count = kind === 'start' && policy.catchup === 'all' ? mostCaughtUp : onTime.length > 0 ? 0 : 1;
    const caughtUp = new Set(count === 0 ? [] : possible.slice(-count));
    return {
      actions: [
        ...[...caughtUp].map((moment) => ({ kind, moment, isLate: true })),
        ...onTime.map((moment) => ({ kind, moment, isLate: false })),
      ],
      missed: late.filter((moment) => !caughtUp.has(moment)).map((moment) => ({ kind, moment })),
    };
  });
  const actions = decided.flatMap((one) => one.actions);
  return {
    actions: actions.sort((a, b) => a.moment - b.moment || order.indexOf(a.kind) - order.indexOf(b.kind)),
    missed: decided.flatMap(({ missed }) => missed),
  };
}

function isPossible(
  moment: number,
  { catchup, catchupWindowMs }: Pick<Schedule, 'catchup' | 'catchupWindowMs'>,
  now: number,
): boolean {
  return catchup !== 'none' && (catchupWindowMs === null || moment >= now - catchupWindowMs);
}
