/**
 * Does the work for each item, at most `most` concurrently. Rejects with the first error.
 */
export async function someAtOnce<T>(
  most: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
