import { escapeControls } from './sanitize.ts';
import { type Cluster, clusters } from './width.ts';

/** A part of a displayed line of source. */
export type LineCell = {
  readonly text: string;
  /** Its width in cells of the terminal. */
  readonly width: number;
  /** Its range in the source, in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
};

const tabWidth = 4;

/**
 * Converts a line of source for display: tabs become spaces up to the next stop, control characters become visible. Positions
 * count from `from`.
 */
export function lineCells(line: string, from: number): readonly LineCell[] {
  const cells: LineCell[] = [];
  let column = 0;
  let start = from;
  for (const cluster of clusters(line)) {
    const end = start + cluster.text.length;
    const { text, width } = shown(cluster, column);
    cells.push({ text, width, start, end });
    column += width;
    start = end;
  }
  return cells;
}

function shown(cluster: Cluster, column: number): Cluster {
  if (cluster.text === '\t') {
    const width = tabWidth - (column % tabWidth);
    return { text: ' '.repeat(width), width };
  }
  const text = escapeControls(cluster.text);
  // Escaped text is ASCII (or one replacement character), so its width is its length.
  return text === cluster.text ? cluster : { text, width: text.length };
}
