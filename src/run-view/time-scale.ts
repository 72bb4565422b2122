import { formatInterval } from '#render/text.ts';
import type { RunView, StepView } from './api/types.ts';
import { type Instance, instanceStep, wholeTime } from './fan-out/instance.ts';

/** The time range of a timeline. Times are milliseconds since 1970-01-01 UTC. */
export type TimeScale = {
  readonly from: number;
  readonly to: number;
  /** Distance of two ticks, in milliseconds. */
  readonly markMs: number;
};

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const intervals = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * day),
];

const mostMarks = 6;

/** Creates a scale between two times with a few ticks at round numbers. */
export function timeScale(from: number, to: number): TimeScale {
  const total = Math.max(1, to - from);
  const markMs = intervals.find((interval) => total / interval <= mostMarks) ?? total;
  return { from, to: from + total, markMs };
}

/** The position of a time on the scale, in percent. */
export function percent({ from, to }: TimeScale, at: number): number {
  const share = (Math.min(to, Math.max(from, at)) - from) / (to - from);
  return Math.round(share * 10_000) / 100;
}

/** The ticks with their labels, without one that would not fit at the end. */
export function marks(scale: TimeScale): readonly { readonly at: number; readonly text: string }[] {
  const { from, to, markMs } = scale;
  const count = Math.floor((to - from) / markMs);
  return Array.from({ length: count + 1 }, (_, index) => ({
    at: percent(scale, from + index * markMs),
    text: markText(index * markMs),
  })).filter(({ at }) => at <= 91);
}

function markText(ms: number): string {
  if (ms === 0) return '0';
  return ms % 100 === 0 ? formatInterval(ms) : `${ms}ms`;
}

/** A step in a timeline. */
export type TimelineRow = {
  readonly step: StepView;
  readonly isHandler: boolean;
  /** When only a free slot was missing, in milliseconds since 1970-01-01 UTC; null if unknown. */
  readonly readyAt: number | null;
  /** For an instance of a fan-out: the instance, and the name of the fan-out. */
  readonly instance: Instance | null;
  readonly of: string | null;
};

type TimelineView = {
  readonly run: Pick<RunView['run'], 'startedAt'>;
  readonly steps: readonly StepView[];
  readonly handlers: readonly StepView[];
  readonly graph: Pick<NonNullable<RunView['graph']>, 'edges'> | null;
  /** The expanded fan-outs. */
  readonly unfolded?: ReadonlySet<string>;
};

/** The started steps in the order of their starts, then the handlers. */
export function timelineRows({
  run,
  steps,
  handlers,
  graph,
  unfolded = new Set(),
}: TimelineView): readonly TimelineRow[] {
  const ends = new Map(steps.map(({ name, finishedAt }) => [name, finishedAt === null ? 0 : Date.parse(finishedAt)]));
  const readyAt = new Map<string, number>();
  const start = run.startedAt === null ? null : Date.parse(run.startedAt);
  for (const { from, to } of graph?.edges ?? []) {
    readyAt.set(to, Math.max(readyAt.get(to) ?? 0, ends.get(from) ?? 0));
  }
  const rows = (of: readonly StepView[], isHandler: boolean) =>
    of
      .filter((step) => barsOf(step).length > 0 || heldFrom(step) !== null)
      .map((step) => ({ step, begin: beginning(step) }))
      .sort((a, b) => a.begin - b.begin)
      .flatMap(({ step }) => [
        {
          step,
          isHandler,
          readyAt: isHandler || start === null || graph === null ? null : Math.max(start, readyAt.get(step.name) ?? 0),
          instance: null,
          of: null,
        },
        ...(unfolded.has(step.name) ? instanceRows(step) : []),
      ]);
  return [...rows(steps, false), ...rows(handlers, true)];
}

/** The started instances of a fan-out, as rows. */
export function instanceRows({ name, items = [] }: StepView): readonly TimelineRow[] {
  return items
    .filter(({ startedAt }) => startedAt !== null)
    .map((instance) => ({ step: instanceStep(instance), isHandler: false, readyAt: null, instance, of: name }));
}

/** The attempts of a step; a fan-out has one bar for its whole time, since its instances have the attempts. */
export function barsOf(step: StepView): StepView['history'] {
  return step.items === undefined ? step.history : wholeTime(step);
}

/** When a step started first, in milliseconds since 1970-01-01 UTC. */
export function beginning(step: StepView): number {
  const [first] = barsOf(step);
  return first === undefined ? (heldFrom(step) ?? 0) : Date.parse(first.scheduledAt);
}

/** When a step began to wait for approval, in milliseconds since 1970-01-01 UTC; null if it has not. */
function heldFrom({ approval }: StepView): number | null {
  return approval?.since == null ? null : Date.parse(approval.since);
}

/**
 * The wait of a step for approval, in milliseconds since 1970-01-01 UTC; null if it has not begun. `now`: its end while
 * it lasts.
 */
export function heldTime(step: StepView, now: number): { readonly from: number; readonly to: number } | null {
  const from = heldFrom(step);
  const end = step.approval?.at ?? step.finishedAt;
  return from === null ? null : { from, to: end === null ? now : Date.parse(end) };
}
