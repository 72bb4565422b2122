import type { JsonSchema } from './json-schemas.ts';
import { table } from './reference-page.ts';

/** The table of an object's keys; `link` tells where a schema that is referred to is described. */
export function keyTable(schema: JsonSchema, link: (ref: string) => string): string {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) => [
    `\`${key}\``,
    typeText(value, link),
    `${value.description ?? ''}${required.has(key) ? '' : ' May be missing.'}`.trim(),
  ]);
  return table(['key', 'type', 'meaning'], rows);
}

/** What values a schema takes, in words. */
export function typeText(schema: JsonSchema, link: (ref: string) => string): string {
  if (schema.$ref !== undefined) return link(schema.$ref);
  if ('const' in schema) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((word) => (word === null ? 'null' : code(word))).join(', ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((choice) => typeText(choice, link)).join(' or ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any']);
  return types.map((type) => single(type, schema, link)).join(' or ');
}

function single(type: string, schema: JsonSchema, link: (ref: string) => string): string {
  const { items, properties, additionalProperties, format } = schema;
  if (type === 'array')
    return items === undefined ? 'list' : `list of ${typeText(items, link).replace(/^list\b/, 'lists')}`;
  if (type === 'object' && properties !== undefined) {
    const keys = Object.entries(properties).map(([key, value]) => `${key}: ${typeText(value, link)}`);
    return `{${keys.join(', ')}}`;
  }
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `map of ${typeText(additionalProperties, link)}`;
  }
  return type === 'string' && format === 'date-time' ? 'time' : (words[type] ?? type);
}

const words: Readonly<Record<string, string>> = { string: 'text', integer: 'whole number', boolean: 'true or false' };

function code(value: unknown): string {
  return `\`${String(value)}\``;
}
