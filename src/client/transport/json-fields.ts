/** A JSON object whose fields are not known yet. */
export type JsonMap = { readonly [field: string]: unknown };

export function isObject(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a field; null for none. */
export function textIn(from: JsonMap, field: string): string | null {
  const value = from[field];
  return typeof value === 'string' ? value : null;
}

/** The number of a field; null for none. */
export function numberIn(from: JsonMap, field: string): number | null {
  const value = from[field];
  return typeof value === 'number' ? value : null;
}

/** The object of a field; null for none. */
export function objectIn(from: JsonMap, field: string): JsonMap | null {
  const value = from[field];
  return isObject(value) ? value : null;
}

/** The items of a field; none where it is no list. */
export function listIn(from: JsonMap, field: string): readonly unknown[] {
  const value = from[field];
  return Array.isArray(value) ? value : [];
}
