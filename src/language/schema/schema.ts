import readingSchema from './generated/reading-schema.mjs';
import { canonicalKey, type Schema } from './schema-type.ts';

/** A documented key of a map: its documented spelling and its schema. */
export type KnownKey = { readonly name: string; readonly schema: Schema };

/** The schema of workflow files without its documentation, which `schema-doc.ts` adds. */
export const workflowSchema = readingSchema as Schema;

/** Resolves `$ref`, which in this schema always points into the same document. */
export function resolve(schema: Schema, document: Schema = workflowSchema): Schema {
  let current = schema;
  while (current.$ref !== undefined) current = targetOf(current.$ref, document);
  return current;
}

/** The targets of references in the schema of workflow files, each followed once. */
const targets = new Map<string, Schema>();

function targetOf(reference: string, document: Schema): Schema {
  const isKept = document === workflowSchema;
  let target: unknown = isKept ? targets.get(reference) : undefined;
  if (target !== undefined) return target as Schema;
  target = document;
  for (const step of reference.slice(2).split('/')) target = (target as Record<string, unknown>)[step];
  if (target === undefined) throw new Error(`the schema refers to "${reference}", which it does not have`);
  if (isKept) targets.set(reference, target as Schema);
  return target as Schema;
}

/** The JSON types that a value may have; null for any type. */
export function typesOf(schema: Schema): readonly string[] | null {
  if (schema.type === undefined) return null;
  return typeof schema.type === 'string' ? [schema.type] : schema.type;
}

const keyTables = new WeakMap<Schema, ReadonlyMap<string, KnownKey>>();

/** The documented keys of a map, by their canonical form. */
export function knownKeys(schema: Schema): ReadonlyMap<string, KnownKey> {
  const kept = keyTables.get(schema);
  if (kept !== undefined) return kept;
  const table = new Map<string, KnownKey>();
  for (const [name, reference] of Object.entries(schema.properties ?? {})) {
    const target = resolve(reference);
    const real = reference['x-alias-of'] ?? target['x-alias-of'] ?? name;
    table.set(canonicalKey(name), { name: real, schema: target });
  }
  keyTables.set(schema, table);
  return table;
}

/** The schema of an executor's settings; null for an unknown type. */
export function executorConfigSchema(type: string, document: Schema = workflowSchema): Schema | null {
  return document.$defs?.[`executor-${type}`] ?? null;
}

/** The types of executor that a file may name. */
export function executorTypes(): string[] {
  const prefix = 'executor-';
  const names = Object.keys(workflowSchema.$defs ?? {});
  return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}
