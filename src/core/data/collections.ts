/**
 * An immutable list: replacing an item returns a new list that shares all but two short arrays with the old one. It is
 * plain data, so that states can be compared. The largest workflow file accepted (1 MiB) holds about 40,000 steps: 640
 * chunks, for which two levels are enough.
 */
export type Vector<T> = { readonly length: number; readonly chunks: readonly (readonly T[])[] };

const CHUNK_BITS = 6;
const CHUNK_SIZE = 1 << CHUNK_BITS;

export function vectorOf<T>(items: readonly T[]): Vector<T> {
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += CHUNK_SIZE) chunks.push(items.slice(start, start + CHUNK_SIZE));
  return { length: items.length, chunks };
}

/** Throws a `RangeError` if the index is out of range. */
export function itemAt<T>(vector: Vector<T>, index: number): T {
  const item = chunkAt(vector, index)[index & (CHUNK_SIZE - 1)];
  if (item === undefined) throw new RangeError(`A list of ${vector.length} has no item ${index}.`);
  return item;
}

/** Returns the list with one item replaced. Throws a `RangeError` if the index is out of range. */
export function withItem<T>(vector: Vector<T>, index: number, item: T): Vector<T> {
  const chunk = chunkAt(vector, index).with(index & (CHUNK_SIZE - 1), item);
  return { length: vector.length, chunks: vector.chunks.with(index >> CHUNK_BITS, chunk) };
}

/** Returns the list with further items at its end. */
export function withMore<T>(vector: Vector<T>, items: readonly T[]): Vector<T> {
  const whole = vector.length >> CHUNK_BITS;
  const rest = vectorOf([...(vector.chunks[whole] ?? []), ...items]);
  return { length: vector.length + items.length, chunks: [...vector.chunks.slice(0, whole), ...rest.chunks] };
}

/** The first `count` items in order. */
export function* firstItems<T>(vector: Vector<T>, count: number): Generator<T, void, undefined> {
  for (let index = 0; index < count; index += 1) yield itemAt(vector, index);
}

function chunkAt<T>(vector: Vector<T>, index: number): readonly T[] {
  const chunk = vector.chunks[index >> CHUNK_BITS];
  if (chunk === undefined) throw new RangeError(`A list of ${vector.length} has no item ${index}.`);
  return chunk;
}

/**
 * An immutable set of small non-negative integers that finds its smallest member quickly. Each number is one bit in an
 * array of 32-bit words, and each word has one bit in `groups` that says whether the word is not 0: with 10,000
 * numbers, a change copies 323 numbers and the smallest member is found in about a dozen steps. Sets with the same
 * members are deeply equal, however they were made.
 */
export type IndexSet = {
  readonly words: readonly number[];
  /** Bit `i` of entry `g` is set if `words[32 * g + i]` is not 0. */
  readonly groups: readonly number[];
};

/** Creates a set of `members`, each at least 0 and less than `capacity`. */
export function indexSet(capacity: number, members: Iterable<number>): IndexSet {
  const words = new Array<number>(Math.ceil(capacity / 32)).fill(0);
  const groups = new Array<number>(Math.ceil(words.length / 32)).fill(0);
  for (const member of members) {
    words[member >> 5] = wordAt(words, member >> 5) | bit(member);
    groups[member >> 10] = wordAt(groups, member >> 10) | bit(member >> 5);
  }
  return { words, groups };
}

export function withIndex(set: IndexSet, index: number): IndexSet {
  const word = wordAt(set.words, index >> 5);
  if ((word & bit(index)) !== 0) return set;
  const group = wordAt(set.groups, index >> 10) | bit(index >> 5);
  return { words: set.words.with(index >> 5, word | bit(index)), groups: set.groups.with(index >> 10, group) };
}

export function withoutIndex(set: IndexSet, index: number): IndexSet {
  const word = wordAt(set.words, index >> 5);
  if ((word & bit(index)) === 0) return set;
  const rest = word & ~bit(index);
  const words = set.words.with(index >> 5, rest);
  if (rest !== 0) return { words, groups: set.groups };
  return { words, groups: set.groups.with(index >> 10, wordAt(set.groups, index >> 10) & ~bit(index >> 5)) };
}

/** The smallest member, or null if the set is empty. */
export function smallestIndex(set: IndexSet): number | null {
  const group = set.groups.findIndex((bits) => bits !== 0);
  if (group === -1) return null;
  const word = group * 32 + lowestBit(wordAt(set.groups, group));
  return word * 32 + lowestBit(wordAt(set.words, word));
}

function bit(index: number): number {
  return 1 << (index & 31);
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

function wordAt(words: readonly number[], index: number): number {
  const word = words[index];
  if (word === undefined) throw new RangeError(`The number is out of range for a set of ${words.length} words.`);
  return word;
}

/** The fields with a value: `{ ...given({ id }) }` has no `id` if that is undefined or null. */
export function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const found: { [K in keyof T]?: NonNullable<T[K]> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined && value !== null) found[key] = value;
  }
  return found;
}

/** Adds a value to the list of a key. */
export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
