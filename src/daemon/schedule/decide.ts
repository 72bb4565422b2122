import type { Schedule } from '#core/workflow.ts';
import type { ScheduleKind } from './rules.ts';

/** The unhandled due times of a workflow, ascending, by kind. */
export type DueMoments = { readonly [kind in ScheduleKind]: readonly number[] };

/** An action for a workflow. `isLate`: it is caught up after its due time, or follows starts that are. */
export type Action = { readonly kind: ScheduleKind; readonly moment: number; readonly isLate: boolean };

/** The actions, in order, and the missed due times. */
export type DueActions = { readonly actions: readonly Action[]; readonly missed: readonly Omit<Action, 'isLate'>[] };

/** The delay that still counts as on time, for a busy machine or a restart of the daemon. */
const onTimeMs = 60_000;
/** The maximum number of runs that are caught up. */
const mostCaughtUp = 100;

const order: readonly ScheduleKind[] = ['stop', 'restart', 'start'];

/**
 * Decides about all due times of one workflow. `catchup` limits late starts; a late stop or restart is done once. A
 * start before a later stop is dropped.
 */
export function decide(
  due: DueMoments,
  policy: Pick<Schedule, 'catchup' | 'catchupWindowMs'>,
  now: number,
): DueActions {
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
        // Otherwise the caught-up runs before it, which are still active, would make `overlap: skip` drop it.
        ...onTime.map((moment) => ({ kind, moment, isLate: caughtUp.size > 0 })),
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
