import type { ChalkInstance } from 'chalk';
import type { Place, Source } from '../../language/diagnostic.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { type LineCell, lineCells } from '../text/line-cells.ts';
import { placeText } from '../text/place-text.ts';
import { escapeControls } from '../text/sanitize.ts';

/** How frames are drawn. */
export type FrameStyle = {
  readonly colors: ChalkInstance;
  readonly glyphs: Glyphs;
  readonly cwd: string;
  /** Cells that a line of source may take before it is cut around its mark. */
  readonly width: number;
  /** Cells of the column of line numbers, so that the frames of one problem stand under each other. */
  readonly gutter: number;
};

/** A place to show, what to write beside its mark, and the sign and colour of the mark. */
export type Frame = {
  readonly place: Place;
  readonly label: string;
  readonly mark: '^' | '-';
  readonly color: (text: string) => string;
};

/** The place, its line of source, and the mark under its range with the label; the place alone where there is no source. */
export function codeFrame(
  { place, label, mark, color }: Frame,
  source: SourceLines | undefined,
  style: FrameStyle,
): string[] {
  const { colors, glyphs, gutter } = style;
  const space = ' '.repeat(gutter);
  const text = escapeControls(label);
  const head = `${space} ${colors.dim(glyphs.corner)} ${placeText(place, style.cwd)}`;
  if (source === undefined) return [text === '' ? head : `${head} ${color(text)}`];
  const line = source.line(place.start.line);
  const shown = markLine(line, lineRange(line, place), style.width, glyphs.ellipsis);
  return [
    head,
    `${colors.dim(`${String(place.start.line).padStart(gutter)} ${glyphs.bar}`)} ${shown.text}`.trimEnd(),
    `${colors.dim(`${space} ${glyphs.bar}`)} ${' '.repeat(shown.before)}${color(`${mark.repeat(shown.length)} ${text}`.trimEnd())}`,
  ];
}

/** A range over several lines is marked to the end of its first. */
function lineRange(line: string, { start, end }: Place): { from: number; to: number } {
  const from = Math.min(start.column - 1, line.length);
  return { from, to: end.line > start.line ? line.length : Math.min(end.column - 1, line.length) };
}

/** A file's lines by their number, from 1; a line beyond the end is empty. */
export type SourceLines = { readonly line: (number: number) => string };

/** Splits a source, once for all its frames and only when there is one. */
export function sourceLines(source: Source): SourceLines {
  let lines: readonly string[] | undefined;
  return {
    line: (number) => {
      lines ??= source.text.split(/\r\n|[\n\r]/);
      return lines[number - 1] ?? '';
    },
  };
}

/** A line of source as it is shown, and where its mark stands. */
type MarkedLine = {
  readonly text: string;
  /** Cells before the mark. */
  readonly before: number;
  /** Cells of the mark, at least one. */
  readonly length: number;
};

/** What to show of a line: the range from code unit `from` up to `to` is marked. */
type LineRange = { readonly from: number; readonly to: number };

/** Only this many code units on either side of a mark are looked at, so that a file of one huge line costs nothing. */
const reach = 2000;

/** Shows a line in at most `width` cells, cut around the mark where it is longer, with `ellipsis` (ASCII or one cell). */
function markLine(line: string, range: LineRange, width: number, ellipsis: string): MarkedLine {
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
