import { canonicalKey, isOffered, type Schema } from '#language/schema/schema-type.ts';
import type { PathStep } from './yaml-place.ts';

/** A key that a map may have. */
export type FileKey = { readonly key: string; readonly schema: Schema; readonly isRequired: boolean };

/** Returns the schema of the value at a path; null if the schema does not describe it. */
export function schemaAt(root: Schema, path: readonly PathStep[]): Schema | null {
  let schema: Schema | null = root;
  for (const { key, beside } of path) {
    if (schema === null) return null;
    schema = key === null ? (schema.items ?? null) : valueSchema(root, schema, { key, beside });
    schema = schema === null ? null : resolved(root, schema);
  }
  return schema;
}

/** Returns the keys that can be added to a map of the schema, without aliases and keys of Dagu 2. */
export function keysOf(root: Schema, schema: Schema, present: ReadonlyMap<string, string>): readonly FileKey[] {
  const taken = new Set(Array.from(present.keys(), canonicalKey));
  return Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const own = resolved(root, part);
    if (!isOffered(own) || taken.has(canonicalKey(key))) return [];
    return [{ key, schema: own, isRequired: schema.required?.includes(key) === true }];
  });
}

/** Returns the suggested values of a text: those of its enumeration, or its examples. */
export function wordsOf({ enum: words, allOf = [], type, examples = [] }: Schema): readonly string[] {
  const ofText = words ?? allOf.find((part) => part.if?.type === 'string')?.then?.enum;
  if (ofText !== undefined) return ofText.map(String);
  if ([type].flat().includes('boolean')) return ['true', 'false'];
  return examples.flatMap((example) => {
    if (typeof example === 'number') return [String(example)];
    return typeof example === 'string' && !example.includes('\n') ? [quotedIfNeeded(example)] : [];
  });
}

function valueSchema(root: Schema, schema: Schema, { key, beside }: PathStep): Schema | null {
  const wanted = canonicalKey(key ?? '');
  const holders = [...implied(schema, beside), schema];
  for (const { properties = {} } of holders) {
    const found = Object.entries(properties).find(([name]) => canonicalKey(name) === wanted)?.[1];
    if (found !== undefined) return resolved(root, found);
  }
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null;
}

/** The schema of a map with these values: the settings of the executor named by `type`. */
function implied({ allOf = [] }: Schema, beside: ReadonlyMap<string, string>): readonly Schema[] {
  return allOf.flatMap(({ if: condition, then }) => {
    const wanted = Object.entries(condition?.properties ?? {});
    const isMet = wanted.length > 0 && wanted.every(([key, { const: value }]) => beside.get(key) === value);
    return isMet && then !== undefined ? [then] : [];
  });
}

function resolved(root: Schema, { $ref, ...own }: Schema): Schema {
  if ($ref === undefined) return own;
  const target = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root) as Schema;
  return { ...resolved(root, target), ...own };
}

/** A text as a YAML scalar. */
function quotedIfNeeded(text: string): string {
  const isPlain = /^[\w$./~-][^:#]*$/.test(text) && !/^(?:[\d.+-]+|true|false|null|yes|no|on|off|-.*)$/i.test(text);
  return isPlain && text.trim() === text ? text : `'${text.replaceAll("'", "''")}'`;
}
