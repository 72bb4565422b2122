import { formatInterval } from '#render/text/duration.ts';

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
