import type { RunSummary } from '#core/summary/summary.ts';
import type { NotificationEvent } from '#core/workflow.ts';
import { pendingApprovals } from '#render/text/approve-command.ts';
import { formatDuration, utcTime } from '#render/text/duration.ts';
import { failurePath, failureReason, failuresIn } from '#render/text/failures.ts';
import { stripControls } from '#render/text/sanitize.ts';

/** A part of a message: a text, or lines of output. */
export type Part = { readonly text: string } | { readonly lines: readonly string[] };

/** Limits of the default message: failed steps with their last lines, and characters of a line. */
const most = { failures: 10, lineLength: 300 };

/** The default title of a notification. */
export function runTitle({ workflow, status }: RunSummary, event: NotificationEvent): string {
  if (event === 'recovery') return `${workflow} recovered`;
  if (event === 'waiting') return `${workflow} waits for approval`;
  return `${workflow} ${status.replaceAll('_', ' ')}`;
}

/** The default text: duration, time, what waits for approval with the commands to answer, and the failures with their last lines. */
export function runText(summary: RunSummary): readonly Part[] {
  const { durationMs, finishedAt, reason, error } = summary;
  const { failures, moreFailures } = failuresIn(summary);
  const took = durationMs === null ? [] : [`Took ${formatDuration(durationMs)}`];
  const at = finishedAt === null ? [] : [`finished ${utcTime(finishedAt)}`];
  const head = [...took, ...at].join(', ');
  const parts: Part[] = head === '' ? [] : [{ text: head }];
  for (const { text, approve, reject } of pendingApprovals(summary)) {
    parts.push({ text: stripControls(text) }, { lines: [approve, reject] });
  }
  // The steps that follow say the same, and more.
  if (error !== null && !(reason === 'step' && failures.length > 0)) parts.push({ text: stripControls(error) });
  for (const failure of failures.slice(0, most.failures)) {
    const { lines, command } = failure;
    parts.push({ text: stripControls(`${failurePath(failure)}: ${failureReason(failure)}`) });
    if (lines.length > 0) parts.push({ lines: lines.map((line) => cut(stripControls(line), most.lineLength)) });
    if (command !== null && failure.path.length > 1) parts.push({ text: command });
  }
  const more = moreFailures + Math.max(0, failures.length - most.failures);
  return more > 0 ? [...parts, { text: `and ${more} more failed` }] : parts;
}

/** Shortens a text to a number of characters. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
