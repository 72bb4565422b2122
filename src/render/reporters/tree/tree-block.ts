import { formatElapsed } from '../../text/duration.ts';
import { cut } from '../../text/fit.ts';
import type { TreeBranch } from './tree-branch.ts';
import { treeLine } from './tree-line.ts';
import { activeLine, pendingLine, waitingLine } from './tree-lines.ts';

/** A moment to paint. */
export type TreeMoment = {
  readonly now: number;
  /** Counts the frames; turns the spinners. */
  readonly frame: number;
  /** Lines of the terminal. */
  readonly rows: number;
};

/** Of the steps to come only the next few are worth a line, and of those of a child run that have ended the last few. */
const mostPending = 5;
const mostEnded = 5;

/**
 * The living block: running steps, those between two attempts, the next ones, and a line of counts into which the rest
 * is folded. At least two lines lower than the terminal: one for the cursor below it, and one above, since a terminal that
 * keeps a history takes an erasure from its first line on for the clearing of the screen, and puts the block there.
 */
export function treeBlock(root: TreeBranch, moment: TreeMoment): readonly string[] {
  if (moment.rows < 3) return [];
  const lines: string[] = [];
  const isFull = () => lines.length >= moment.rows - 3;
  addRunning(root, moment, lines, isFull);
  let pending = 0;
  for (const name of root.view.isStopping ? [] : root.view.pending) {
    if (isFull() || pending++ === mostPending) break;
    lines.push(treeLine(pendingLine(name, root.view, root.style), root.room()));
  }
  return [...lines, countLine(root, moment.now)];
}

/** Steps at which something is done, each with those of the workflow that it runs below it. */
function addRunning(branch: TreeBranch, moment: TreeMoment, lines: string[], isFull: () => boolean): void {
  const { view, style, nested, showsOutput } = branch;
  const room = branch.room();
  for (const step of view.active.values()) {
    if (isFull()) return;
    const child = nested.get(step.name);
    const hidesLastLine = showsOutput || child !== undefined;
    lines.push(treeLine(activeLine(step, moment.now, moment.frame, hidesLastLine, style), room));
    for (const row of child?.rows.slice(-mostEnded) ?? []) if (!isFull()) lines.push(row);
    if (child !== undefined) addRunning(child, moment, lines, isFull);
  }
  for (const step of view.waiting.values()) {
    if (isFull()) return;
    lines.push(treeLine(waitingLine(step, moment.now, style), room));
  }
}

/** `  3/8 · 2 running · 1 waiting   12s   Ctrl-C stops`. */
function countLine(root: TreeBranch, now: number): string {
  const { view, style } = root;
  const { columns, ellipsis } = root.room();
  const waiting = view.pending.size + view.waiting.size;
  const counts = [
    `${view.done}/${view.total}`,
    ...(view.active.size > 0 ? [`${view.active.size} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(view.failed > 0 ? [`${view.failed} failed`] : []),
  ].join(style.glyphs.separator);
  const elapsed = view.startedAt === null ? [] : [formatElapsed(now - view.startedAt)];
  const stop = view.isStopping ? `stopping${ellipsis} Ctrl-C again kills` : 'Ctrl-C stops';
  return style.colors.dim(cut(`  ${[counts, ...elapsed, stop].join('   ')}`, columns - 1, ellipsis));
}
