import type { Terminal } from '../reporters/reporter.ts';
import { stripControls } from './sanitize.ts';
import { breakRows } from './sgr.ts';
import { textWidth } from './width.ts';

/** A part of a line that is never broken: text without control characters, and its colour. */
export type LinePart = { readonly text: string; readonly paint: (text: string) => string };

const NARROWEST_ROW = 8;

/** Packs parts into lines of `columns` cells, `gap` spaces apart; further lines are indented by two. */
export function packLines(parts: readonly LinePart[], gap: number, columns: number): readonly string[] {
  const lines: string[] = [];
  let width = 0;
  for (const { text, paint } of parts) {
    const fits = lines.length > 0 && width + gap + textWidth(text) < columns;
    const indent = lines.length === 0 ? '' : '  ';
    if (fits) lines.push(`${lines.pop()}${' '.repeat(gap)}${paint(text)}`);
    else lines.push(indent + paint(text));
    width = (fits ? width + gap : indent.length) + textWidth(text);
  }
  return lines;
}

/** Breaks a line of output into rows narrower than `columns`, each behind `gutter`. */
export function behindGutter(line: string, gutter: string, columns: number): readonly string[] {
  const room = Math.max(NARROWEST_ROW, columns - 1 - textWidth(stripControls(gutter)));
  return breakRows(line, room).map((row) => (gutter + row).trimEnd());
}

/** Returns the cells of a line: those of the terminal, or infinity if lines are not broken. */
export function columnsOf({ isTerminal, size }: Partial<Pick<Terminal, 'isTerminal' | 'size'>>): number {
  return (isTerminal === true ? size?.().columns : undefined) ?? Number.POSITIVE_INFINITY;
}
