/**
 * An immutable list: replacing an item returns a new list that shares all but two short arrays with the old one. It is
 * plain data, so that states can be compared. The largest workflow file accepted (1 MiB) holds about 40,000 steps: 640
 * chunks, for which two levels are enough.
 */
export type Vector<T> = { readonly length: number; readonly chunks: readonly (readonly T[])[] };

const chunkBits = 6;
const chunkSize = 1 << chunkBits;

export function vectorOf<T>(items: readonly T[]): Vector<T> {
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += chunkSize) chunks.push(items.slice(start, start + chunkSize));
  return { length: items.length, chunks };
}

/** Throws a `RangeError` if the index is out of range. */
export function itemAt<T>(vector: Vector<T>, index: number): T {
  const item = chunkAt(vector, index)[index & (chunkSize - 1)];
  if (item === undefined) throw new RangeError(`A list of ${vector.length} has no item ${index}.`);
  return item;
}

/** Returns the list with one item replaced. Throws a `RangeError` if the index is out of range. */
export function withItem<T>(vector: Vector<T>, index: number, item: T): Vector<T> {
  const chunk = chunkAt(vector, index).with(index & (chunkSize - 1), item);
  return { length: vector.length, chunks: vector.chunks.with(index >> chunkBits, chunk) };
}

/** Returns the list with further items at its end. */
export function withMore<T>(vector: Vector<T>, items: readonly T[]): Vector<T> {
  const whole = vector.length >> chunkBits;
  const rest = vectorOf([...(vector.chunks[whole] ?? []), ...items]);
  return { length: vector.length + items.length, chunks: [...vector.chunks.slice(0, whole), ...rest.chunks] };
}

/** The first `count` items in order. */
export function* firstItems<T>(vector: Vector<T>, count: number): Generator<T, void, undefined> {
  for (let index = 0; index < count; index += 1) yield itemAt(vector, index);
}

function chunkAt<T>(vector: Vector<T>, index: number): readonly T[] {
  const chunk = vector.chunks[index >> chunkBits];
  if (chunk === undefined) throw new RangeError(`A list of ${vector.length} has no item ${index}.`);
  return chunk;
}
