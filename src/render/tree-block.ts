import { formatElapsed } from './duration.ts';
import { cut } from './fit.ts';
import { type TreeRoom, treeLine } from './tree-line.ts';
import { activeLine, pendingLine, type TreeStyle, waitingLine } from './tree-lines.ts';
import type { TreeView } from './tree-view.ts';

/** A moment to paint. */
export type TreeMoment = {
  readonly now: number;
  /** Counts the frames; turns the spinners. */
  readonly frame: number;
  /** Lines of the terminal. */
  readonly rows: number;
  /** The lines of output stand above the block already. */
  readonly showsOutput: boolean;
};

/** Of the steps to come only the next few are worth a line. */
const mostPending = 5;

/**
 * The living block: running steps, those between two attempts, the next ones, and a line of counts into which the rest
 * is folded. At least two lines lower than the terminal: one for the cursor below it, and one above, since a terminal that
 * keeps a history takes an erasure from its first line on for the clearing of the screen, and puts the block there.
 */
export function treeBlock(view: TreeView, moment: TreeMoment, room: TreeRoom, style: TreeStyle): readonly string[] {
  const { now, frame, rows, showsOutput } = moment;
  if (rows < 3) return [];
  const lines: string[] = [];
  const isFull = () => lines.length >= rows - 3;
  for (const step of view.active.values()) {
    if (isFull()) break;
    lines.push(treeLine(activeLine(step, now, frame, showsOutput, style), room));
  }
  for (const step of view.waiting.values()) {
    if (isFull()) break;
    lines.push(treeLine(waitingLine(step, now, style), room));
  }
  let pending = 0;
  for (const name of view.isStopping ? [] : view.pending) {
    if (isFull() || pending++ === mostPending) break;
    lines.push(treeLine(pendingLine(name, view, style), room));
  }
  return [...lines, countLine(view, now, room, style)];
}

/** `  2 running · 1 waiting · 3 done   12s   Ctrl-C stops`. */
function countLine(
  view: TreeView,
  now: number,
  { columns, ellipsis }: TreeRoom,
  { colors, glyphs }: TreeStyle,
): string {
  const waiting = view.pending.size + view.waiting.size;
  const counts = [
    ...(view.active.size > 0 ? [`${view.active.size} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(view.failed > 0 ? [`${view.failed} failed`] : []),
    `${view.settled.size - view.failed} done`,
  ].join(glyphs.separator);
  const elapsed = view.startedAt === null ? [] : [formatElapsed(now - view.startedAt)];
  const stop = view.isStopping ? `stopping${ellipsis} Ctrl-C again kills` : 'Ctrl-C stops';
  return colors.dim(cut(`  ${[counts, ...elapsed, stop].join('   ')}`, columns - 1, ellipsis));
}
