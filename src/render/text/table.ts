import type { Terminal } from '../reporters/reporter.ts';
import { padEnd, textWidth } from './width.ts';

/** One cell: text without control characters, and its colour. */
export type Cell = { readonly text: string; readonly paint: (text: string) => string };

/**
 * Formats rows, the first of which has the heads, as a table with columns two spaces apart. Columns of `optional` are shown
 * only if a row has text in them and the table then fits into `columns` cells, without its last column. Ends with a line break.
 */
export function renderTable(
  rows: readonly (readonly Cell[])[],
  { optional, columns }: { readonly optional: readonly number[]; readonly columns: number } = {
    optional: [],
    columns: 0,
  },
): string {
  const kept = optional.filter((at) => rows.slice(1).some((row) => (row[at]?.text ?? '') !== ''));
  for (;;) {
    const shown = rows.map((row) => row.filter((_, at) => !optional.includes(at) || kept.includes(at)));
    const widths = columnWidths(shown);
    const width = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
    if (width <= columns || kept.pop() === undefined) return shown.map((row) => `${rowText(row, widths)}\n`).join('');
  }
}

/** The room for a table: only a terminal limits it. */
export function columnsOf({ isTerminal, size }: Pick<Terminal, 'isTerminal' | 'size'>): number {
  return isTerminal ? size().columns : Number.POSITIVE_INFINITY;
}

function columnWidths(rows: readonly (readonly Cell[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ text }, column) => {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(text));
    });
  }
  return widths;
}

function rowText(row: readonly Cell[], widths: readonly number[]): string {
  const last = row.findLastIndex(({ text }) => text !== '');
  return row
    .slice(0, last + 1)
    .map(({ text, paint }, column) => {
      const padding = column === last ? '' : padEnd(text, widths[column] ?? 0).slice(text.length);
      return paint(text) + padding;
    })
    .join('  ');
}
