import type { CronTimes } from './cron-times.ts';
import type { Rule, ScheduleKind } from './rules.ts';

/** When something is due; `file` is the absolute path of the workflow. */
export type UpcomingMoment = { readonly file: string; readonly kind: ScheduleKind; readonly at: Date };

type Window = { readonly from: number; readonly to: number; readonly limit: number };

/** The moments of rules in a window, in the order of time, the first `limit`. */
export function momentsBetween(
  rules: readonly Rule[],
  times: CronTimes,
  { from, to, limit }: Window,
): readonly UpcomingMoment[] {
  const next = rules.map((rule) => ({ rule, at: times.next(rule, from - 1) }));
  const found: UpcomingMoment[] = [];
  while (found.length < limit) {
    const first = next.reduce<(typeof next)[number] | null>(
      (least, each) => (each.at !== null && (least?.at == null || each.at < least.at) ? each : least),
      null,
    );
    if (first?.at == null || first.at > to) return found;
    found.push({ file: first.rule.file, kind: first.rule.kind, at: new Date(first.at) });
    first.at = times.next(first.rule, first.at);
  }
  return found;
}
