import { type LineCell, lineCells } from '../text/line-cells.ts';

/** A line of source as it is shown, and where its mark stands. */
export type MarkedLine = {
  readonly text: string;
  /** Cells before the mark. */
  readonly before: number;
  /** Cells of the mark, at least one. */
  readonly length: number;
};

/** What to show of a line: the range from code unit `from` up to `to` is marked. */
export type LineRange = { readonly from: number; readonly to: number };

/** Only this many code units on either side of a mark are looked at, so that a file of one huge line costs nothing. */
const reach = 2000;

/** Shows a line in at most `width` cells, cut around the mark where it is longer, with `ellipsis` (ASCII or one cell). */
export function markLine(line: string, range: LineRange, width: number, ellipsis: string): MarkedLine {
  const first = characterStart(line, Math.max(0, range.from - reach));
  const last = characterStart(line, Math.min(line.length, range.from + reach));
  const cells = lineCells(line.slice(first, last), first);
  const before = widthOf(cells.filter((cell) => cell.end <= range.from));
  const length = Math.max(1, widthOf(cells.filter((cell) => cell.end > range.from && cell.start < range.to)));
  if (first === 0 && last === line.length && widthOf(cells) <= width) return { text: textOf(cells), before, length };
  const left = first > 0 || before + Math.min(length, width / 2) > width - ellipsis.length ? ellipsis : '';
  const window = cellsWithin(
    cells,
    left === '' ? 0 : before - Math.floor(width / 4),
    width - left.length - ellipsis.length,
  );
  const right = window.reachesEnd && last === line.length ? '' : ellipsis;
  const start = left.length - window.column;
  const room = window.column + widthOf(window.cells) - before;
  return {
    text: left + textOf(window.cells) + right,
    before: start + before,
    length: Math.max(1, Math.min(length, room)),
  };
}

/** The cells that lie wholly within `width` from column `from`, and the column at which the first of them stands. */
function cellsWithin(cells: readonly LineCell[], from: number, width: number) {
  let column = 0;
  let index = 0;
  for (; index < cells.length && column < from; index++) column += cells[index]?.width ?? 0;
  let end = index;
  for (let used = cells[end]?.width ?? 0; end < cells.length && used <= width; used += cells[end]?.width ?? 0) end++;
  return { cells: cells.slice(index, end), column, reachesEnd: end === cells.length };
}

/** Never between the two halves of a surrogate pair. */
function characterStart(line: string, index: number): number {
  const code = line.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}

function widthOf(cells: readonly LineCell[]): number {
  return cells.reduce((width, cell) => width + cell.width, 0);
}

function textOf(cells: readonly LineCell[]): string {
  return cells.map((cell) => cell.text).join('');
}
