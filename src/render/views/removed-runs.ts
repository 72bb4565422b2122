import type { RunStatus } from '#core/run/run.ts';
import type { Terminal } from '../reporters/reporter.ts';
import type { LinePart } from '../text/pack-lines.ts';
import { statusText } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { headRow, plain, renderTable } from '../text/table.ts';
import { createColors, paintStatus } from '../text/terminal-style.ts';
import { byteText, counted, dateAndTime, shortId } from '../text/value-text.ts';

/** A removed run; unknown values are null. */
export type RemovedRunView = {
  readonly runId: string;
  readonly workflow: string | null;
  readonly group: string | null;
  readonly file: string | null;
  readonly status: RunStatus | null;
  readonly createdAt: string | null;
  readonly bytes: number;
  /** Only its artifacts were removed. */
  readonly part?: 'artifacts';
};

export type RemovedRunsView = {
  readonly runs: readonly RemovedRunView[];
  /** The numbers of cached results and of fingerprints, if these are removed instead. */
  readonly cached?: number;
  readonly fingerprints?: number;
  readonly freedBytes: number;
  readonly dryRun: boolean;
};

/** Renders removed runs, one per line, and the freed space. Ends with a line break. */
export function renderRemovedRuns(
  { runs, freedBytes, dryRun, cached, fingerprints }: RemovedRunsView,
  { color }: Pick<Terminal, 'color'>,
): string {
  const colors = createColors(color);
  const row = ({ runId, workflow, status, createdAt, bytes, part }: RemovedRunView): readonly LinePart[] => [
    { text: shortId(runId), paint: plain },
    { text: escapeControls(workflow ?? '?'), paint: colors.bold },
    { text: createdAt === null ? '?' : dateAndTime(Date.parse(createdAt)), paint: plain },
    status === null
      ? { text: '?', paint: plain }
      : { text: statusText(status), paint: (text) => paintStatus(status, colors, text) },
    { text: `${formatBytes(bytes)}${part === undefined ? '' : ' of artifacts'}`, paint: plain },
  ];
  const heads = headRow(['RUN', 'WORKFLOW', 'STARTED', 'STATUS', 'SIZE'], colors);
  const table = runs.length === 0 ? '' : renderTable([heads, ...runs.map(row)]);
  const successes = [
    ...(cached === undefined ? [] : [[cached, 'cached result'] as const]),
    ...(fingerprints === undefined ? [] : [[fingerprints, 'fingerprint'] as const]),
  ];
  const counts = successes.length === 0 ? runCounts(runs) : successes.map(([count, what]) => counted(count, what));
  const isNothing = freedBytes === 0 && runs.length === 0 && successes.every(([count]) => count === 0);
  if (isNothing) return `${table}nothing to remove\n`;
  return `${table}${dryRun ? 'would remove' : 'removed'} ${counts.join(' and ')}, ${formatBytes(freedBytes)}\n`;
}

function runCounts(runs: RemovedRunsView['runs']): readonly string[] {
  const parts = runs.filter(({ part }) => part !== undefined).length;
  const whole = runs.length - parts;
  return [
    ...(whole > 0 || parts === 0 ? [counted(whole, 'run')] : []),
    ...(parts > 0 ? [`the artifacts of ${counted(parts, 'run')}`] : []),
  ];
}

/** Bytes as in a table: `512 B`, `20 KiB`. */
function formatBytes(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : byteText(bytes);
}
