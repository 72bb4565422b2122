import { escapeControls } from './sanitize.ts';
import { type Cluster, clusters } from './width.ts';

/** Part of a line of source as it is shown. */
export type LineCell = {
  readonly text: string;
  /** In cells of the terminal. */
  readonly width: number;
  /** Where it stands in the source, in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
};

const tabWidth = 4;

/**
 * A line of source as it is shown: tabs become spaces up to the next stop, control characters their visible form,
 * everything else stays. Positions count from `from`.
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
  // What had to be escaped is ASCII now (or one replacement character), whose width is its length.
  return text === cluster.text ? cluster : { text, width: text.length };
}
