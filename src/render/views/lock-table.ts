import type { ChalkInstance } from 'chalk';
import type { BlockedBy } from '#core/run/run.ts';
import type { HolderSummary } from '#core/summary/summary.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { columnsOf, type LinePart } from '../text/pack-lines.ts';
import { escapeControls } from '../text/sanitize.ts';
import { headRow, plain, renderTable } from '../text/table.ts';
import { createColors } from '../text/terminal-style.ts';
import { formatElapsed, shortId } from '../text/value-text.ts';

/** A run or step that has slots of a lock, or waits for them at a `place` from 1. */
type LockUse = HolderSummary & { readonly mode: 'read' | 'write'; readonly slots: number; readonly place?: number };

/** A lock or queue in use. `within`: the holder of the lock of that name among whose steps and runs this one counts. */
export type LockView = {
  readonly kind: BlockedBy;
  readonly name: string;
  readonly slots: number;
  readonly within?: Pick<HolderSummary, 'runId'> | null;
  readonly holders: readonly LockUse[];
  readonly waiters: readonly LockUse[];
};

/** Renders locks in use, one line for each holder and waiter. Ends with a line break. */
export function renderLocks(
  locks: readonly LockView[],
  { color, ...terminal }: Pick<Terminal, 'color' | 'isTerminal' | 'size'>,
  now: number,
): string {
  if (locks.length === 0) return 'no lock is in use\n';
  const colors = createColors(color);
  const heads = headRow(['LOCK', 'STATE', 'SLOTS', 'RUN', 'WORKFLOW', 'STEP', 'FOR', ''], colors);
  const rows = locks.flatMap((lock) =>
    [...lock.holders, ...lock.waiters].map((use) => row(lock, use, { colors, now })),
  );
  return renderTable([heads, ...rows], { optional: [5], spare: [2, 6], columns: columnsOf(terminal) });
}

function row(
  lock: LockView,
  { place, mode, slots, runId, workflow, step, since, unknown }: LockUse,
  { colors, now }: { readonly colors: ChalkInstance; readonly now: number },
): readonly LinePart[] {
  const state = place === undefined ? 'held' : `waits, ${place}`;
  return [
    { text: lockTitle(lock), paint: colors.bold },
    { text: state, paint: place === undefined ? colors.green : colors.yellow },
    { text: mode === 'read' ? 'read' : `${slots} of ${lock.slots}`, paint: plain },
    { text: shortId(runId), paint: plain },
    { text: escapeControls(workflow), paint: plain },
    { text: escapeControls(step ?? ''), paint: plain },
    { text: formatElapsed(now - Date.parse(since)), paint: plain },
    { text: unknown === undefined ? '' : `${escapeControls(unknown)} may have ended`, paint: colors.dim },
  ];
}

/** `deploy-prod`, `queue db`, or `db within run 5f2c`. */
function lockTitle({ kind, name, within }: LockView): string {
  const title = escapeControls(kind === 'queue' ? `queue ${name}` : name);
  if (within === undefined) return title;
  return `${title} within ${within === null ? 'a finished run' : `run ${shortId(within.runId)}`}`;
}
