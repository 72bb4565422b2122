import { clusters, textWidth } from './width.ts';

/** Cuts text without control characters to at most `cells`, ending in `ellipsis` when something is lost. */
export function cut(text: string, cells: number, ellipsis: string): string {
  // Whatever the text's length, only its start is measured; long heaps of accents on one letter are cut too.
  const start = text.slice(0, Math.max(0, cells) * 16);
  if (fitting(start, cells).length === text.length) return text;
  const room = cells - textWidth(ellipsis);
  return room < 0 ? ellipsis.slice(0, Math.max(0, cells)) : fitting(start, room) + ellipsis;
}

/** Pads text with spaces on the right to `cells`; a wider text stays as it is. */
export function padEnd(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - textWidth(text)));
}

/** The longest beginning that takes at most `cells`. */
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
