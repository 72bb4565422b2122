import type { ChalkInstance } from 'chalk';
import type { Glyphs } from '../../text/glyphs.ts';
import { escapeControls } from '../../text/sanitize.ts';
import { clusters, cut, textWidth } from '../../text/width.ts';
import type { Prompt } from '../reporter.ts';

/** Renders a question below the live block: the question, the fault of the last answer, and the line being typed, if any. */
export function promptLines(
  { question, fault, label, typed, cursor }: Prompt,
  columns: number,
  { colors, glyphs }: { readonly colors: ChalkInstance; readonly glyphs: Pick<Glyphs, 'ellipsis'> },
): readonly string[] {
  const line = (text: string) => cut(escapeControls(text), columns - 1, glyphs.ellipsis);
  const asked = [colors.bold(line(question)), ...(fault === null ? [] : [colors.yellow(line(fault))])];
  if (label === null) return asked;
  const head = cut(`${escapeControls(label)} `, Math.max(0, columns - 8), glyphs.ellipsis);
  const room = Math.max(1, columns - 2 - textWidth(head));
  const before = lastCells(escapeControls(typed.slice(0, cursor)), room - 1);
  const [at = '', ...rest] = [...clusters(escapeControls(typed.slice(cursor)))].map(({ text }) => text);
  const after = cut(rest.join(''), Math.max(0, room - textWidth(before + at)), '');
  return [...asked, `${head}${before}${cursorOn(at, colors)}${after}`];
}

/** The live view hides the cursor of the terminal. */
function cursorOn(text: string, colors: ChalkInstance): string {
  if (colors.level === 0) return text === '' ? '_' : text;
  return colors.inverse(text === '' ? ' ' : text);
}

function lastCells(text: string, cells: number): string {
  const parts = [...clusters(text)];
  let width = parts.reduce((sum, part) => sum + part.width, 0);
  while (width > Math.max(0, cells)) width -= parts.shift()?.width ?? width;
  return parts.map((part) => part.text).join('');
}
