import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** As much of JSON Schema as the schemas of the reference use. */
export type JsonSchema = {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
};

const folder = resolve(import.meta.dirname, '../../docs/reference/schemas');

/** The schemas that are published, by the names of their files. */
export const schemas: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  readdirSync(folder).map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as JsonSchema]),
);

/**
 * What is wrong with a value by a schema (a file, or `event.json#/$defs/run.created`). Stricter than what is published,
 * which leaves room for more: here every key must be described, except at the top of a RunSummary, which `run.summary`
 * builds on.
 */
export function problemsWith(schema: string, value: unknown): readonly string[] {
  const validate = ajv.getSchema(schema);
  if (validate === undefined) return [`there is no schema ${schema}`];
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}

const ajv = new Ajv2020({ allErrors: true, strictRequired: false, allowUnionTypes: true });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
for (const [name, schema] of Object.entries(schemas)) {
  ajv.addSchema(closed(schema, name !== 'run-summary.json') as object, name);
}

function closed(schema: unknown, isClosed = true): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closed(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen = !isClosed || !('properties' in schema) || schema.properties === null || 'allOf' in schema;
  return isOpen || typeof schema.properties !== 'object' || !('type' in schema)
    ? copy
    : { ...copy, additionalProperties: false };
}
