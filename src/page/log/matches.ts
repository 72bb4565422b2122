import type { AnsiSpan } from '#run-view/components.ts';

/** A search in a log. */
export type LogQuery = { readonly text: string; readonly isRegex: boolean; readonly isCaseSensitive: boolean };

const MAX_PATTERN_LENGTH = 200;
/** Matches in longer lines are not highlighted; in characters. */
const MAX_MARKED_LENGTH = 2000;

/** The index of the first hit at or after a line; `hits.length` if there is none. */
export function hitFrom(hits: readonly number[], line: number): number {
  let [low, high] = [0, hits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hits[middle] ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Finds the matches in a line, to highlight them; null if the whole line is highlighted. The server searches in linear
 * time, a browser does not: expressions with more than one repetition could block the page.
 */
export function matcherOf({ text, isRegex, isCaseSensitive }: LogQuery): RegExp | null {
  const source = isRegex ? text : text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  if (isRegex && (/[*+{?].*[*+{?]|\)[*+{?]/.test(source) || text.length > MAX_PATTERN_LENGTH)) return null;
  try {
    return new RegExp(source, isCaseSensitive ? 'g' : 'gi');
  } catch {
    return null;
  }
}

/** The same parts of a line, with the class `match` on the matches. */
export function markMatches(spans: readonly AnsiSpan[], matcher: RegExp): readonly AnsiSpan[] {
  const text = spans.map((span) => span.text).join('');
  if (text.length > MAX_MARKED_LENGTH) return spans;
  const ends = [...text.matchAll(matcher)].flatMap(({ index, 0: match }) =>
    match === '' ? [] : [index, index + match.length],
  );
  if (ends.length === 0) return spans;
  let at = 0;
  return spans.flatMap((span) => {
    const start = at;
    at += span.text.length;
    const cuts = [start, ...ends.filter((end) => end > start && end < at), at];
    return cuts.slice(1).map((end, index) => {
      const from = cuts[index] ?? start;
      // An odd count of boundaries up to here: within a match.
      const isMatch = ends.filter((each) => each <= from).length % 2 === 1;
      const text = span.text.slice(from - start, end - start);
      return { ...span, text, classes: isMatch ? [...span.classes, 'match'] : span.classes };
    });
  });
}
