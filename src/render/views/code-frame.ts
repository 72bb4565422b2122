import type { ChalkInstance } from 'chalk';
import type { Place, Source } from '../../language/diagnostic.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { placeText } from '../text/place-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { markLine } from './marked-line.ts';

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
