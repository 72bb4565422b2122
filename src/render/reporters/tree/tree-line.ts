import { cut, padEnd, textWidth } from '../../text/width.ts';

/** One line of the tree. Its texts contain no control characters; the `paint…` functions add colours. */
export type TreeLine = {
  readonly glyph: string;
  readonly name: string;
  /** A duration, or empty. */
  readonly time: string;
  readonly detail: string;
  readonly paintGlyph: (text: string) => string;
  readonly paintDetail: (text: string) => string;
};

/** The available space. */
export type TreeRoom = {
  /** The width of the terminal in cells. */
  readonly columns: number;
  /** The width of the longest name in cells. */
  readonly names: number;
  readonly ellipsis: string;
  /** The depth of the line: 0 for a step of the run itself, 1 for a step of its child run. */
  readonly depth?: number;
  /** The line must also fit a window of `halfWidth`. */
  readonly isHalf?: boolean;
};

const indentPerLevel = 2;
const timeWidth = 6;
const widestName = 32;
const narrowestDetail = 8;

/** Returns half of a width, at least 40 cells. */
export function halfWidth(columns: number): number {
  return Math.max(Math.floor(columns / 2), Math.min(columns, 40));
}

/**
 * `  ✔ extract            1.2s  attempt 2 of 3`, always narrower than the terminal. In a narrow terminal the detail is
 * left out first, then the time, then the end of the name.
 */
export function treeLine(line: TreeLine, { columns, names, ellipsis, depth = 0, isHalf = false }: TreeRoom): string {
  const indent = indentPerLevel * (depth + 1);
  const head = indent + textWidth(line.glyph) + 1;
  const whole = columns - 1 - head;
  const room = isHalf ? halfWidth(columns) - 1 - head : whole;
  const start = `${' '.repeat(indent)}${line.paintGlyph(line.glyph)} `;
  const most = Math.max(8, Math.min(Math.floor(whole / 2), room - 1 - timeWidth));
  const nameWidth = Math.min(Math.max(names, textWidth(line.name)), widestName, most);
  if (room < 1) return cut(`${line.glyph}${line.name}`, Math.max(0, room + head), ellipsis);
  if (nameWidth + 1 + timeWidth > room) return start + cut(line.name, room, ellipsis);
  const name = padEnd(cut(line.name, nameWidth, ellipsis), nameWidth);
  const left = room - nameWidth - 1 - timeWidth - 2;
  const detail =
    left < narrowestDetail || line.detail === '' ? '' : `  ${line.paintDetail(cut(line.detail, left, ellipsis))}`;
  return `${start}${name} ${line.time.padStart(timeWidth)}${detail}`.trimEnd();
}
