import { type RawItems, rawFanOut } from '../../build/fan-out.ts';
import { isJsonObject } from '../../raw.ts';

/** The variable of a fan-out that a name from another tool probably means (`item`, `matrix`, a field); else null. */
export function itemReference(name: string, raw: RawItems): string | null {
  const fanOut = rawFanOut(raw);
  if (fanOut === null) return null;
  if (/^(?:items?|each|matrix)$/i.test(name)) return '$ITEM';
  const { items, matrix } = fanOut;
  const isField =
    (matrix !== undefined && Object.hasOwn(matrix, name)) ||
    (Array.isArray(items) && items.some((item) => isJsonObject(item) && Object.hasOwn(item, name)));
  return isField ? `\${ITEM.${name}}` : null;
}
