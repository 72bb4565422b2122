import type { Place, Position, Source } from '../diagnostic.ts';

/** Converts offsets in a text to positions: finds the line starts once, then each position by bisection. */
export function lineIndex(source: Source): (start: number, end: number) => Place {
  const starts = [0];
  for (let at = source.text.indexOf('\n'); at !== -1; at = source.text.indexOf('\n', at + 1)) starts.push(at + 1);
  const position = (offset: number): Position => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
  return (start, end) => ({ file: source.path, start: position(start), end: position(Math.max(start, end)) });
}
