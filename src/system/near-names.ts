/** Maximum length of a compared name, in characters. */
const LONGEST = 80;
/** Maximum number of suggestions. */
const MOST = 3;
/** Maximum number of letters compared in one search; of very many candidates, the last are ignored. */
const MOST_WORK = 100_000;

/** The candidates closest to a mistyped `name`, nearest first, at most three. */
export function nearNames(name: string, candidates: Iterable<string>): string[] {
  const wanted = name.toLowerCase();
  if (wanted.length > LONGEST) return [];
  const found = new Map<string, number>();
  let limit = Math.min(Math.max(1, Math.floor(wanted.length / 3)), wanted.length - 1);
  let work = 0;
  for (const candidate of candidates) {
    if (limit < 0 || ++work > MOST_WORK) break;
    if (candidate.length > LONGEST || Math.abs(candidate.length - wanted.length) > limit) continue;
    const { distance, compared } = editDistance(wanted, candidate.toLowerCase(), limit);
    work += compared;
    if (distance > limit) continue;
    found.set(candidate, distance);
    const worst = nearest(found).at(MOST - 1);
    // From here on, only candidates nearer than the last suggestion matter.
    if (worst !== undefined) limit = worst[1] - 1;
  }
  return nearest(found).map(([near]) => near);
}

function nearest(found: ReadonlyMap<string, number>): [string, number][] {
  return [...found].sort(([, a], [, b]) => a - b).slice(0, MOST);
}

/** `did you mean "a"?`, or `"a" or "b"`; empty if there is no suggestion. */
export function didYouMean(near: readonly string[]): string {
  if (near.length === 0) return '';
  return `did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
}

/** Greater than any distance between two names. */
const FAR = 255;
/** Three rows of a table of distances, reused: allocating them for each pair would cost more than comparing. */
const rows = [new Uint8Array(FAR), new Uint8Array(FAR), new Uint8Array(FAR)] as const;

/**
 * The insertions, deletions, replacements and swaps from `a` to `b`, `FAR` if more than `limit`; and the letters
 * compared.
 */
function editDistance(a: string, b: string, limit: number): { distance: number; compared: number } {
  let [beforeLast, last, current] = rows;
  for (let column = 0; column <= b.length; column++) last[column] = column;
  let leastOfLast = 0;
  let compared = 0;
  for (let row = 1; row <= a.length; row++) {
    const least = fillRow(row, { a, b, limit, beforeLast, last, current });
    compared += 2 * limit + 1;
    // A row depends on the two before it: if both exceed the limit, so do all later ones.
    if (Math.min(leastOfLast, least) > limit) return { distance: FAR, compared };
    [beforeLast, last, current] = [last, current, beforeLast];
    leastOfLast = least;
  }
  return { distance: at(last, b.length), compared };
}

type Table = Record<'a' | 'b', string> & Record<'beforeLast' | 'last' | 'current', Uint8Array> & { limit: number };

/** Fills a row of distances from the two before it, within `limit` of the diagonal. Returns the smallest one. */
function fillRow(row: number, { a, b, limit, beforeLast, last, current }: Table): number {
  const letter = a.charCodeAt(row - 1);
  const before = a.charCodeAt(row - 2);
  const from = Math.max(1, row - limit);
  const to = Math.min(b.length, row + limit);
  let left = from === 1 ? row : FAR;
  let least = left;
  let otherBefore = b.charCodeAt(from - 2);
  current[from - 1] = left;
  current[to + 1] = FAR;
  for (let column = from; column <= to; column++) {
    const other = b.charCodeAt(column - 1);
    const isSwap = before === other && letter === otherBefore && row > 1 && column > 1;
    const shifted = Math.min(at(last, column), left) + 1;
    const replaced = at(last, column - 1) + (letter === other ? 0 : 1);
    left = Math.min(replaced, shifted);
    if (isSwap) left = Math.min(left, at(beforeLast, column - 2) + 1);
    current[column] = Math.min(left, FAR);
    least = Math.min(least, left);
    otherBefore = other;
  }
  return least;
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? FAR;
}
