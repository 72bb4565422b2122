import { padEnd, textWidth } from './width.ts';

/** One cell: text without control characters, and its colour. */
export type Cell = { readonly text: string; readonly paint: (text: string) => string };

/** Formats rows as a table with columns two spaces apart. Ends with a line break. */
export function renderTable(rows: readonly (readonly Cell[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ text }, column) => {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(text));
    });
  }
  return rows.map((row) => `${rowText(row, widths)}\n`).join('');
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
