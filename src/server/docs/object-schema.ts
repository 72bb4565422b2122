import type { Schema } from './operation.ts';

/** Creates the schema of an object; all keys are required except the optional ones. */
export function objectSchema(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema & { readonly properties: Readonly<Record<string, Schema>>; readonly required: readonly string[] } {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', properties, required };
}

/** Creates the schema of a list. */
export function listSchema(items: Schema, description?: string): Schema {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}
