import type { Json } from '#core/workflow.ts';
import { isJsonObject } from '../raw.ts';
import { canonicalKey, isOffered, type Schema } from './schema-type.ts';

/** Texts of YAML 1.1 that are read as booleans, and texts that are read as numbers. */
const BOOLEAN_WORD = '^(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[yY](?:[eE][sS])?|[nN][oO]?|[oO][nN]|[oO][fF][fF])$';
const LENGTH_TEXT = '^(?:[-+]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][-+]?\\d+)?|(?:\\d{1,10}(?:\\.\\d+)?[smhdw])+)$';
const NUMBER_TEXT = '^[-+]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][-+]?\\d+)?$';

/** Any schema, with keywords that are only copied or combined here. */
type Node = Omit<Schema, 'allOf'> & {
  readonly patternProperties?: { readonly [pattern: string]: unknown };
  readonly allOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
  readonly if?: Node;
  readonly then?: Node;
};
type Output = { [keyword: string]: unknown };

/**
 * The schema of workflow files for editors: it accepts every spelling that `wf` reads, and offers the documented one.
 * The documented schema describes a file after reading: one spelling of each key, one type for each value.
 */
export function editorSchema(documented: Schema): object {
  const { $schema, $id, ...schema } = documented as Output;
  return { $schema, ...($id === undefined ? {} : { $id }), ...widened(schema as Node) };
}

/** A schema that accepts every way of writing the values of `schema`. */
function widened(schema: Node): Output {
  const { properties, additionalProperties, items, $defs, allOf = [], anyOf, required = [], ...rest } = schema;
  const kept = Object.fromEntries(Object.entries(rest).filter(([keyword]) => !keyword.startsWith('x-')));
  const demands = [...required.map((key) => demand(key, schema)), ...allOf.map((part) => branch(part, schema))];
  const snippets = snippetsOf(schema);
  return {
    ...kept,
    ...(isOffered(schema) ? {} : { doNotSuggest: true }),
    ...widenedType(schema),
    ...(properties === undefined ? {} : keysInAnySpelling(schema)),
    ...(additionalProperties === undefined ? {} : { additionalProperties: keyValue(additionalProperties) }),
    ...(items === undefined ? {} : { items: widened(items) }),
    ...(demands.length === 0 ? {} : { allOf: demands }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((part) => branch(part, schema)) }),
    ...(snippets.length === 0 ? {} : { defaultSnippets: snippets }),
    ...($defs === undefined ? {} : { $defs: mapValues($defs, widened) }),
  };
}

function widenedType({ type, pattern, enum: words, 'x-seconds': isLength, 'x-number': isNumberText }: Node): Output {
  const types = type === undefined ? [] : [type].flat();
  if (isNumberText === true) {
    const others = [isLength ? LENGTH_TEXT : NUMBER_TEXT, ...(types.includes('boolean') ? [BOOLEAN_WORD] : [])];
    return { type: types, pattern: [pattern, ...others].join('|') };
  }
  if (types.includes('string')) {
    // If words or a pattern restrict the texts, a number cannot match.
    return pattern === undefined && words === undefined ? { type: unique([...types, 'number', 'boolean']) } : {};
  }
  if (words !== undefined) return {};
  if (types.includes('boolean')) return { type: [...types, 'string'], pattern: BOOLEAN_WORD };
  const isNumber = types.includes('number') || types.includes('integer');
  return isNumber ? { type: [...types, 'string'], pattern: isLength ? LENGTH_TEXT : NUMBER_TEXT } : {};
}

/** The value of a key. It may be missing: then the key counts as absent. */
function keyValue(schema: Node | boolean): Output | boolean {
  if (typeof schema === 'boolean') return schema;
  const { $ref, ...wide } = widened(schema);
  if ($ref !== undefined) return { anyOf: [{ $ref }, { type: 'null' }], ...wide };
  if (wide.type === undefined) return wide;
  const type = unique([...[wide.type as string | string[]].flat(), 'null']);
  return { ...wide, type, ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }) };
}

/** Keys match without regard to case and `_`; the documented spelling has the texts that editors show. */
function keysInAnySpelling({ properties = {}, patternProperties = {} }: Node): Output {
  const values = mapValues(properties, keyValue);
  const others = Object.entries(values).map(([key, value]) => [spellings(key), withoutWords(value)]);
  const patterns = { ...patternProperties, '^<<$': true, ...Object.fromEntries(others) };
  return { properties: values, patternProperties: patterns };
}

/** Every spelling of a key as a pattern: `timeoutSec` gives `^_*[tT]_*[iI]...$`. */
function spellings(key: string): string {
  const letters = [...canonicalKey(key)].map((letter) => {
    const upper = letter.toUpperCase();
    return upper === letter ? letter : `[${letter}${upper}]`;
  });
  return `^_*${letters.join('_*')}_*$`;
}

/** A required key in any spelling, alias, or merge. Editors report the first alternative as missing. */
function demand(key: string, { properties = {} }: Node): Output {
  const aliases = Object.keys(properties).filter((name) => properties[name]?.['x-alias-of'] === key);
  const isOther = { not: { anyOf: [key, ...aliases].map((name) => ({ pattern: spellings(name) })) } };
  return { anyOf: [{ required: [key] }, { required: ['<<'] }, { type: 'object', not: { propertyNames: isOther } }] };
}

/** A part of `allOf` or `anyOf`: required keys, or the consequences of an executor's type. */
function branch({ required, anyOf, if: condition, then, ...rest }: Node, holder: Node): Output {
  const [key] = required ?? [];
  return {
    ...rest,
    ...(key === undefined ? {} : demand(key, holder)),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((part) => branch(part, holder)) }),
    ...(condition === undefined ? {} : { if: condition }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ...(then === undefined ? {} : { then: consequence(then) }),
  };
}

function consequence({ properties, ...rest }: Node): Output {
  return { ...rest, ...(properties === undefined ? {} : { properties: mapValues(properties, keyValue) }) };
}

/** Removes the texts that editors show: only the documented spelling has them. */
function withoutWords(schema: Output | boolean): Output | boolean {
  if (typeof schema === 'boolean') return schema;
  const { description, examples, default: preset, defaultSnippets, doNotSuggest, ...rest } = schema;
  return mapValues(rest, (value) => (isJsonObject(value as Json) ? withoutWords(value as Output) : value));
}

/** Snippets for a map or a list, from its examples. */
function snippetsOf({ examples = [] }: Node): readonly object[] {
  const bodies = examples.filter((example) => typeof example === 'object' && example !== null);
  return bodies.map((body) => ({ label: JSON.stringify(body), body }));
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function mapValues<T, U>(map: { readonly [name: string]: T }, change: (value: T) => U): { [name: string]: U } {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
