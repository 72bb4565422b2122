import type { ChalkInstance } from 'chalk';
import type { RunSummary } from '#core/summary/summary.ts';
import type { Schedule } from '#core/workflow.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { columnsOf, type LinePart } from '../text/pack-lines.ts';
import { statusText } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { headRow, plain, renderTable } from '../text/table.ts';
import { createColors, paintStatus } from '../text/terminal-style.ts';
import { counted, dateAndTime, formatDuration } from '../text/value-text.ts';

/** A workflow in `wf list`. */
export type ListedWorkflowView = {
  readonly name: string;
  readonly group: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly queue: string | null;
  readonly schedule: Pick<Schedule, 'start' | 'stop' | 'restart'>;
  /** The next scheduled start in ISO 8601; null if there is none. */
  readonly next: string | null;
  readonly suspended: boolean;
  /** In ISO 8601; null: without an end, or not suspended. */
  readonly suspendedUntil: string | null;
  readonly lastRun: RunSummary | null;
  /** The usual duration of its runs in milliseconds; null if unknown. */
  readonly medianMs: number | null;
  readonly diagnostics: readonly { readonly severity: 'error' | 'warning' }[];
};

/** Renders workflows, one per line. Ends with a line break. */
export function renderWorkflowList(
  workflows: readonly ListedWorkflowView[],
  { color, ...terminal }: Pick<Terminal, 'color' | 'isTerminal' | 'size'>,
): string {
  const colors = createColors(color);
  const heads = headRow(['WORKFLOW', 'LAST RUN', '', 'TIME', 'SCHEDULE', 'NEXT', 'QUEUE', 'TAGS', ''], colors);
  return renderTable([heads, ...workflows.map((workflow) => row(workflow, colors))], {
    optional: [3, 6, 7],
    spare: [5, 4, 2],
    columns: columnsOf(terminal),
  });
}

function row(workflow: ListedWorkflowView, colors: ChalkInstance): LinePart[] {
  const { name, group, queue, next, suspendedUntil: until, lastRun, medianMs, diagnostics } = workflow;
  const timeText = (iso: string) => dateAndTime(Date.parse(iso));
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const status = lastRun?.status;
  const { start, stop, restart } = workflow.schedule;
  const times = [...start, ...stop.map((cron) => `stop ${cron}`), ...restart.map((cron) => `restart ${cron}`)];
  return [
    { text: escapeControls(group === '' ? name : `${group}/${name}`), paint: colors.bold },
    {
      text: status === undefined ? '-' : statusText(status),
      paint: (text) => (status === undefined ? text : paintStatus(status, colors, text)),
    },
    { text: lastRun === null ? '' : timeText(lastRun.createdAt), paint: plain },
    { text: medianMs === null ? '' : `~${formatDuration(medianMs)}`, paint: plain },
    { text: escapeControls(times.join(', ')), paint: plain },
    workflow.suspended
      ? { text: until === null ? 'suspended' : `suspended until ${timeText(until)}`, paint: colors.yellow }
      : { text: next === null ? '' : timeText(next), paint: plain },
    { text: escapeControls(queue ?? ''), paint: plain },
    { text: escapeControls(workflow.tags.join(', ')), paint: plain },
    errors > 0
      ? { text: `not valid: ${counted(errors, 'error')} (wf validate)`, paint: colors.red }
      : { text: escapeControls(workflow.description), paint: colors.dim },
  ];
}
