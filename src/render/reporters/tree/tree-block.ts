import { formatDuration, formatElapsed } from '../../text/duration.ts';
import { cut } from '../../text/width.ts';
import { wrappedRows } from './live-region.ts';
import type { TreeBranch } from './tree-branch.ts';
import { halfWidth, treeLine } from './tree-line.ts';
import { activeLine, pendingLine, waitingLine, withCount } from './tree-lines.ts';

/** The state of a frame. */
export type TreeMoment = {
  readonly now: number;
  /** The number of the frame, for the spinners. */
  readonly frame: number;
  /** The height of the terminal in lines. */
  readonly rows: number;
  /** The number of lines above the block that a narrower window may move out of the window. */
  readonly above: number;
  /** The usual duration of the workflow; null: unknown. */
  readonly usualMs: number | null;
};

/** Only the next few pending steps and the last few finished steps of a child run get a line. */
const mostPending = 5;
const mostEnded = 5;

/**
 * Renders the live block: running steps, waiting steps, the next ones, and a line of counts for the rest. Its details are cut if it
 * would not fit a window of half the width (`halfWidth`): rows that wrapping moves out of the window could not be erased.
 */
export function treeBlock(root: TreeBranch, moment: TreeMoment): readonly string[] {
  if (moment.rows < 3) return [];
  const block = blockLines(root, { ...moment, isHalf: false });
  const wrapped = wrappedRows(block, halfWidth(root.room().columns));
  return wrapped < moment.rows && wrapped - block.length <= moment.above
    ? block
    : blockLines(root, { ...moment, isHalf: true });
}

type BlockMoment = TreeMoment & { readonly isHalf: boolean };

function blockLines(root: TreeBranch, moment: BlockMoment): readonly string[] {
  const lines: string[] = [];
  const isFull = () => lines.length >= moment.rows - 3;
  addRunning(root, moment, lines, isFull);
  let pending = 0;
  for (const name of root.view.isStopping ? [] : root.view.pending) {
    if (isFull() || pending++ === mostPending) break;
    lines.push(treeLine(pendingLine(name, root.view, root.style), root.room(moment.isHalf)));
  }
  return [...lines, countLine(root, moment)];
}

/** Renders the active steps, each followed by the steps of its child run. */
function addRunning(branch: TreeBranch, moment: BlockMoment, lines: string[], isFull: () => boolean): void {
  const { view, style, nested, showsOutput } = branch;
  const room = branch.room(moment.isHalf);
  for (const step of view.active.values()) {
    if (isFull()) return;
    const child = nested.get(step.name);
    const hidesLastLine = showsOutput || child !== undefined;
    const line = activeLine(step, moment.now, moment.frame, hidesLastLine, style);
    lines.push(treeLine(child?.isFanOut === true ? withCount(line, child.view) : line, room));
    if (child === undefined) continue;
    const inner = child.room(moment.isHalf);
    for (const row of child.rows.slice(-mostEnded)) if (!isFull()) lines.push(treeLine(row, inner));
    addRunning(child, moment, lines, isFull);
  }
  for (const step of view.waiting.values()) {
    if (isFull()) return;
    lines.push(treeLine(waitingLine(step, moment.now, style), room));
  }
}

/** `  3/8 · 2 running · 1 waiting   12s of ~2m05s   Ctrl-C stops`. */
function countLine(root: TreeBranch, { now, usualMs, isHalf }: BlockMoment): string {
  const { view, style } = root;
  const { columns, ellipsis } = root.room();
  const waiting = view.pending.size + view.waiting.size;
  const counts = [
    `${view.done}/${view.total}`,
    ...(view.active.size > 0 ? [`${view.active.size} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(view.failed > 0 ? [`${view.failed} failed`] : []),
  ].join(style.glyphs.separator);
  const usual = usualMs === null ? '' : ` of ~${formatDuration(usualMs)}`;
  const elapsed = view.startedAt === null ? [] : [formatElapsed(now - view.startedAt) + usual];
  const stop = view.isStopping ? `stopping${ellipsis} Ctrl-C again kills` : 'Ctrl-C stops';
  return style.colors.dim(
    cut(`  ${[counts, ...elapsed, stop].join('   ')}`, (isHalf ? halfWidth(columns) : columns) - 1, ellipsis),
  );
}
