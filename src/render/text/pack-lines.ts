import { textWidth } from './width.ts';

/** A part of a line that is never broken: text without control characters, and how it is coloured. */
export type LinePart = { readonly text: string; readonly paint: (text: string) => string };

/** Parts `gap` spaces apart, as many in a line as `columns` cells hold; further lines are indented by two. */
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

/** The cells of a line: those of a terminal, or without end where no line is broken. */
export function columnsOf({
  isTerminal,
  size,
}: {
  readonly isTerminal?: boolean;
  readonly size?: () => { readonly columns: number };
}): number {
  return (isTerminal === true ? size?.().columns : undefined) ?? Number.POSITIVE_INFINITY;
}
