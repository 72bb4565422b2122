import type { Schema } from './operation.ts';

/** An object whose keys are always there, but for those that are optional. */
export function objectSchema(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema & { readonly properties: Readonly<Record<string, Schema>>; readonly required: readonly string[] } {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', properties, required };
}

/** A list of such. */
export function listSchema(items: Schema, description?: string): Schema {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}
