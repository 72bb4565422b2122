/** Selected lines, counted from 1, both ends inclusive. */
export type LineRange = { readonly from: number; readonly to: number };

/** Reads `#L1204` or `#L1204-L1210`; null for anything else. */
export function lineRangeOf(hash: string): LineRange | null {
  const [, first, second = first] = /^#L([1-9]\d{0,11})(?:-L([1-9]\d{0,11}))?$/.exec(hash) ?? [];
  if (first === undefined) return null;
  const lines = [Number(first), Number(second)];
  return { from: Math.min(...lines), to: Math.max(...lines) };
}

/** The fragment of an address that selects these lines; empty: none. */
export function hashOf(range: LineRange | null): string {
  if (range === null) return '';
  return range.from === range.to ? `#L${range.from}` : `#L${range.from}-L${range.to}`;
}
