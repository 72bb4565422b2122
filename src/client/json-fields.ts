import { tryOr } from '#system/errors.ts';

/** A JSON object with unchecked fields. */
export type JsonMap = { readonly [field: string]: unknown };

export function isObject(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the text of a field; null if it has none. */
export function textIn(from: JsonMap, field: string): string | null {
  const value = from[field];
  return typeof value === 'string' ? value : null;
}

/** Returns the number of a field; null if it has none. */
export function numberIn(from: JsonMap, field: string): number | null {
  const value = from[field];
  return typeof value === 'number' ? value : null;
}

/** Returns the object of a field; null if it has none. */
export function objectIn(from: JsonMap, field: string): JsonMap | null {
  const value = from[field];
  return isObject(value) ? value : null;
}

/** Returns the items of a field; empty if it is no list. */
export function listIn(from: JsonMap, field: string): readonly unknown[] {
  const value = from[field];
  return Array.isArray(value) ? value : [];
}

/** Returns the objects in the list of a field. */
export function objectsIn(from: JsonMap, field: string): readonly JsonMap[] {
  return listIn(from, field).filter(isObject);
}

/** Returns the texts in the list of a field. */
export function textsIn(from: JsonMap, field: string): readonly string[] {
  return listIn(from, field).filter((text) => typeof text === 'string');
}

/** Returns the object in a JSON text; null for any other text. */
export function parseMap(text: string): JsonMap | null {
  const value = tryOr<unknown, null>(null, () => JSON.parse(text));
  return isObject(value) ? value : null;
}
