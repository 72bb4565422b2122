import { escapeControls } from './sanitize.ts';
import { clusters, textWidth } from './width.ts';

/** Cuts text without control characters to at most `cells`, with `ellipsis` at the end if anything was cut. */
export function cut(text: string, cells: number, ellipsis: string): string {
  // Only the start of the text is measured, however long it is; long runs of accents on one letter are cut too.
  const start = text.slice(0, Math.max(0, cells) * 16);
  if (fitting(start, cells).length === text.length) return text;
  const room = cells - textWidth(ellipsis);
  return room < 0 ? ellipsis.slice(0, Math.max(0, cells)) : fitting(start, room) + ellipsis;
}

/** Pads text with spaces on the right to `cells`; a wider text is unchanged. */
export function padEnd(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - textWidth(text)));
}

/** Returns the longest prefix of at most `cells`. */
function fitting(text: string, cells: number): string {
  let length = 0;
  let width = 0;
  for (const cluster of clusters(text)) {
    width += cluster.width;
    if (width > cells) break;
    length += cluster.text.length;
  }
  return text.slice(0, length);
}

/** The longest name in cells: enough to search for, and short enough to leave room for the rest of the line. */
const widestName = 100;

/** Returns the name of a workflow, step or handler for a line: escaped, and cut if it is too long. */
export function nameText(name: string, ellipsis = '...'): string {
  return name.length <= widestName ? escapeControls(name) : cut(escapeControls(name), widestName, ellipsis);
}
