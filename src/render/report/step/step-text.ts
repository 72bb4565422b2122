import { formatDuration } from '../../text/duration.ts';
import type { ReportStep } from './report-step.ts';

/** The text next to a step's name: `1.2s · 2 attempts`. */
export function stepDetail({ summary: { durationMs, attempts }, isKept }: ReportStep): string {
  return [
    ...(isKept ? ['kept'] : []),
    ...(durationMs === null ? [] : [formatDuration(durationMs)]),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ].join(' · ');
}
