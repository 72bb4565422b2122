import type { ChalkInstance } from 'chalk';
import { failedSteps, type RunSummary } from '#core/summary/summary.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { columnsOf, type LinePart } from '../text/pack-lines.ts';
import { statusText } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { pendingApprovals } from '../text/suggested-commands.ts';
import { headRow, plain, renderTable } from '../text/table.ts';
import { createColors, paintStatus } from '../text/terminal-style.ts';
import { dateAndTime, formatDuration, shortId } from '../text/value-text.ts';

/** Renders past runs, one per line. `commandOptions`: those by which another command reaches the runs. */
export function renderHistory(
  runs: readonly RunSummary[],
  { color, ...terminal }: Pick<Terminal, 'color' | 'isTerminal' | 'size'>,
  commandOptions = '',
): string {
  const colors = createColors(color);
  const heads = headRow(['RUN', 'WORKFLOW', 'STARTED', 'STATUS', 'TIME', 'QUEUE', 'TAGS', ''], colors);
  return renderTable([heads, ...runs.map((run) => row(run, colors, commandOptions))], {
    optional: [5, 6],
    spare: [2, 4],
    columns: columnsOf(terminal),
  });
}

function row(run: RunSummary, colors: ChalkInstance, commandOptions: string): readonly LinePart[] {
  return [
    { text: shortId(run.runId), paint: plain },
    { text: escapeControls(run.workflow), paint: colors.bold },
    { text: dateAndTime(Date.parse(run.createdAt)), paint: plain },
    { text: statusText(run.status), paint: (text) => paintStatus(run.status, colors, text) },
    { text: run.durationMs === null ? '' : formatDuration(run.durationMs), paint: plain },
    { text: escapeControls(run.queue ?? ''), paint: plain },
    { text: escapeControls((run.tags ?? []).join(', ')), paint: plain },
    { text: escapeControls(note(run, commandOptions)), paint: colors.dim },
  ];
}

/** Returns the reason for a failure, the commands to approve what waits, and damage of its files. */
function note(run: RunSummary, commandOptions: string): string {
  const all = failedSteps(run);
  const failed = all.find(({ tolerated }) => tolerated === undefined || run.strict === true) ?? all[0];
  const isOwn = failed === undefined || run.reason === 'lost';
  const why = isOwn ? run.error : [failed.name, failed.error].filter((text) => text !== null).join(': ');
  const pending = pendingApprovals(run, commandOptions).map(({ approve }) => `approve: ${approve}`);
  return [why, ...pending, ...run.warnings].filter(Boolean).join('; ');
}
