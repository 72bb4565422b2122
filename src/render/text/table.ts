import type { ChalkInstance } from 'chalk';
import type { LinePart } from './pack-lines.ts';
import { cut, padEnd, textWidth, wrapped } from './width.ts';

/** Numbers of columns to leave out if there is no room, the last ones first: those of `optional`, then those of `spare`. */
type TableOptions = {
  readonly optional: readonly number[];
  readonly spare?: readonly number[];
  readonly columns: number;
};

/** The colour of most cells: none. */
export const plain = (text: string): string => text;

/** The heads of a table. */
export function headRow(texts: readonly string[], { dim }: ChalkInstance): readonly LinePart[] {
  return texts.map((text) => ({ text, paint: dim }));
}

/**
 * Formats rows, heads first, as a table. Columns without text are left out if they are `optional`, others if the table does not
 * fit. A last column that does not fit stands below its row; other wide cells are cut.
 */
export function renderTable(
  rows: readonly (readonly LinePart[])[],
  { optional, spare = [], columns }: TableOptions = { optional: [], columns: Number.POSITIVE_INFINITY },
): string {
  const kept = [...spare, ...optional.filter((at) => rows.slice(1).some((row) => (row[at]?.text ?? '') !== ''))];
  for (;;) {
    const shown = rows.map((row) =>
      row.filter((_, at) => !(optional.includes(at) || spare.includes(at)) || kept.includes(at)),
    );
    const widths = columnWidths(shown);
    if (widthOf(widths) <= columns || kept.pop() === undefined) {
      narrow(widths, columns);
      return shown
        .flatMap((row) => rowLines(row, widths, columns))
        .map((line) => `${line}\n`)
        .join('');
    }
  }
}

/** The cells of all columns but the last. */
function widthOf(widths: readonly number[]): number {
  return widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
}

/** The widest first column that is never cut: an id. */
const ID_WIDTH = 14;

/** Takes cells from the widest column, without the last, until the others fit. */
function narrow(widths: number[], columns: number): void {
  for (let excess = widthOf(widths) - 2 - columns; excess > 0; excess -= 1) {
    const cuttable = widths.slice(0, -1).map((width, at) => (at === 0 && width <= ID_WIDTH ? 0 : width));
    const most = Math.max(...cuttable);
    if (most <= 3) return;
    widths[cuttable.indexOf(most)] = most - 1;
  }
}

function rowLines(row: readonly LinePart[], widths: readonly number[], columns: number): readonly string[] {
  const last = row[widths.length - 1];
  const fitted = row.map(({ text, paint }, at) =>
    at === widths.length - 1 ? { text, paint } : { text: cut(text, widths[at] ?? 0, '...'), paint },
  );
  if (last === undefined || last.text === '' || textWidth(last.text) + widthOf(widths) <= columns)
    return [rowText(fitted, widths)];
  const below = wrapped(last.text, columns - 4).map((line) => `    ${last.paint(line)}`);
  return [rowText(fitted.slice(0, -1), widths), ...below];
}

function columnWidths(rows: readonly (readonly LinePart[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ text }, column) => {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(text));
    });
  }
  return widths;
}

function rowText(row: readonly LinePart[], widths: readonly number[]): string {
  const last = row.findLastIndex(({ text }) => text !== '');
  return row
    .slice(0, last + 1)
    .map(({ text, paint }, column) => {
      const padding = column === last ? '' : padEnd(text, widths[column] ?? 0).slice(text.length);
      return paint(text) + padding;
    })
    .join('  ');
}
