import type { Json, JsonObject } from '../../core/workflow.ts';
import { code, escapeHtml, prose } from './html.ts';
import type { Schema } from './operation.ts';

/** What values a schema takes, in words, with links to the schemas that have a name. */
export function typeText(schema: Schema): string {
  const target = schema['$ref'];
  if (typeof target === 'string') return link(target);
  if ('const' in schema) return code(wordOf(schema['const'] ?? null));
  const values = schema['enum'];
  if (Array.isArray(values)) return values.map((value) => code(wordOf(value))).join(', ');
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return choices.map((choice) => typeText(choice as Schema)).join(' or ');
  return typesOf(schema)
    .map((type) => single(type, schema))
    .join(' or ');
}

/** The keys of an object as a table; empty for what has none. */
export function keyTable(schema: Schema): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  if (properties.length === 0) return '';
  const required = (schema['required'] ?? []) as readonly string[];
  const rows = properties.map(([key, value]) => {
    const about = typeof value['description'] === 'string' ? prose(value['description']) : '';
    const mayMiss = required.includes(key) ? '' : ' <i>May be missing.</i>';
    return `<tr><td>${code(key)}</td><td>${typeText(value)}</td><td>${about}${mayMiss}${nested(value)}</td></tr>`;
  });
  return `<table><tr><th>key</th><th>type</th><th>meaning</th></tr>${rows.join('')}</table>`;
}

/** Objects without a name are told where they are. */
function nested(schema: Schema): string {
  const inner = [schema, schema['items'], ...((schema['anyOf'] ?? []) as readonly Json[])];
  const objects = inner.filter((each): each is JsonObject => isObject(each) && isObject(each['properties']));
  return objects.map((each) => keyTable(each)).join('');
}

function typesOf({ type }: Schema): readonly string[] {
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.map(String) : ['any'];
}

function single(type: string, schema: Schema): string {
  const { items, additionalProperties, format } = schema;
  if (type === 'array') return isObject(items) ? `list of ${typeText(items)}` : 'list';
  if (type === 'object' && isObject(additionalProperties)) return `map of ${typeText(additionalProperties)}`;
  if (type === 'string' && format === 'date-time') return 'time';
  return words[type] ?? escapeHtml(type);
}

const words: Readonly<Record<string, string>> = { string: 'text', integer: 'whole number', boolean: 'true or false' };

function link(target: string): string {
  const name = target.replace('#/components/schemas/', '');
  return `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
}

function wordOf(value: Json): string {
  return value === null ? 'null' : String(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
