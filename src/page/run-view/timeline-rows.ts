import type { RunView, StepView } from './view.ts';

/** A step in a timeline. */
export type TimelineRow = {
  readonly step: StepView;
  readonly isHandler: boolean;
  /** When it lacked nothing but a free slot, in milliseconds since 1970-01-01 UTC; null if that is unknown. */
  readonly readyAt: number | null;
};

type TimelineView = {
  readonly run: Pick<RunView['run'], 'startedAt'>;
  readonly steps: readonly StepView[];
  readonly handlers: readonly StepView[];
  readonly graph: Pick<NonNullable<RunView['graph']>, 'edges'> | null;
};

/** The steps that have begun, in the order in which they did, then the handlers. */
export function timelineRows({ run, steps, handlers, graph }: TimelineView): readonly TimelineRow[] {
  const ends = new Map(steps.map(({ name, finishedAt }) => [name, finishedAt === null ? 0 : Date.parse(finishedAt)]));
  const readyAt = new Map<string, number>();
  const start = run.startedAt === null ? null : Date.parse(run.startedAt);
  for (const { from, to } of graph?.edges ?? []) {
    readyAt.set(to, Math.max(readyAt.get(to) ?? 0, ends.get(from) ?? 0));
  }
  const rows = (of: readonly StepView[], isHandler: boolean) =>
    of
      .filter(({ history }) => history.length > 0)
      .map((step) => ({ step, begin: beginning(step) }))
      .sort((a, b) => a.begin - b.begin)
      .map(({ step }) => ({
        step,
        isHandler,
        readyAt: isHandler || start === null || graph === null ? null : Math.max(start, readyAt.get(step.name) ?? 0),
      }));
  return [...rows(steps, false), ...rows(handlers, true)];
}

/** When a step began for the first time, in milliseconds since 1970-01-01 UTC. */
export function beginning({ history }: StepView): number {
  const first = history[0];
  return first === undefined ? 0 : Date.parse(first.scheduledAt);
}
