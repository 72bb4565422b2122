import { nearNames } from '#system/near-names.ts';
import { executorConfigSchema, executorTypes, resolve as resolveIn } from './schema.ts';
import { canonicalKey, type Schema, typeText } from './schema-type.ts';
import document from './workflow.schema.json' with { type: 'json' };

export { editorSchema } from './editor-schema.ts';

/** A key allowed at a path of a workflow file. */
export type KeyDoc = {
  readonly key: string;
  /** For example `text or list`. */
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly default: unknown;
  readonly examples: readonly unknown[];
};

/** The documentation of a path of a workflow file. */
export type SchemaDoc = {
  /** The path in the documented spelling, such as `steps.retryPolicy`; empty for the whole file. */
  readonly path: string;
  readonly doc: KeyDoc;
  /** The keys of the map (or of the maps of the list) at the path. */
  readonly keys: readonly KeyDoc[];
  /** The JSON Schema of the path, including the definitions it refers to. */
  readonly schema: Schema;
};

/** The documentation of a path, such as `steps.retryPolicy`, `retryPolicy` or `executor.http`; null if unknown. */
export function documentationOf(path: string): SchemaDoc | null {
  const walked = walk(path);
  if (walked.left.length > 0) return null;
  const { schema, names, required } = walked;
  const table = Object.entries(keysOf(schema).properties ?? {});
  const keys = table.map(([key, part]) => keyDoc(key, part, keysOf(schema)));
  const doc = { ...keyDoc(names.at(-1) ?? 'workflow', schema, {}), required };
  return { path: names.join('.'), doc, keys, schema: standalone(schema) };
}

/** Existing paths similar to an unknown one, nearest first. */
export function nearPaths(path: string): string[] {
  const walked = walk(path);
  const [wrong] = walked.left;
  if (wrong === undefined) return [];
  const step = walked.names.length === 0 ? childNames(stepSchema()) : [];
  const here = new Set([...childNames(walked.schema), ...step]);
  return nearNames(wrong, [...here]).map((name) => [...walked.names, name].join('.'));
}

type Walked = {
  readonly schema: Schema;
  readonly names: readonly string[];
  readonly required: boolean;
  /** The part of the path that could not be resolved. */
  readonly left: readonly string[];
};

function walk(path: string): Walked {
  const steps = path.split('.').filter((step) => step !== '');
  const [first] = steps;
  const step = stepSchema();
  const isOfStep = first !== undefined && childOf(documentedSchema, first) === null && childOf(step, first) !== null;
  const start = isOfStep ? { schema: step, names: ['steps'] } : { schema: documentedSchema, names: [] };
  let at: Walked = { ...start, required: false, left: steps };
  while (at.left.length > 0) {
    const [name = '', ...left] = at.left;
    const child = childOf(at.schema, name);
    if (child === null) break;
    const required = keysOf(at.schema).required?.includes(child.name) ?? false;
    at = { schema: child.schema, names: [...at.names, child.name], required, left };
  }
  return at;
}

function childOf(schema: Schema, name: string): { name: string; schema: Schema } | null {
  const wanted = canonicalKey(name);
  if (isExecutor(schema)) {
    const type = executorTypes().find((known) => canonicalKey(known) === wanted) ?? '';
    const config = executorConfigSchema(type, documentedSchema);
    if (config !== null) return { name: type, schema: config };
  }
  const found = Object.entries(keysOf(schema).properties ?? {}).find(([key]) => canonicalKey(key) === wanted);
  if (found === undefined) return null;
  const [key, part] = found;
  const { $ref: _, ...own } = part;
  return { name: key, schema: { ...resolve(part), ...own } };
}

function isExecutor(schema: Schema): boolean {
  const { type, config, with: ofStep } = schema.properties ?? {};
  return type !== undefined && config !== undefined && ofStep === undefined;
}

function childNames(schema: Schema): string[] {
  const keys = Object.keys(keysOf(schema).properties ?? {});
  return isExecutor(schema) ? [...executorTypes(), ...keys] : keys;
}

function stepSchema(): Schema {
  return resolve(documentedSchema.$defs?.step ?? {});
}

/** A list is documented by its entries. */
function keysOf(schema: Schema): Schema {
  const own = resolve(schema);
  if (own.properties !== undefined || own.items === undefined) return own;
  return resolve(own.items);
}

function keyDoc(key: string, part: Schema, holder: Schema): KeyDoc {
  const target = resolve(part);
  return {
    key,
    type: typeText(target),
    description: part.description ?? target.description ?? '',
    required: holder.required?.includes(key) ?? false,
    default: target.default ?? null,
    examples: target.examples ?? [],
  };
}

function resolve(schema: Schema): Schema {
  return resolveIn(schema, documentedSchema);
}

/** A part of the schema with all definitions that it refers to, directly or indirectly. */
function standalone(schema: Schema): Schema {
  if (schema.$defs !== undefined) return schema;
  const used = new Map<string, Schema>();
  const visit = (value: unknown): void => {
    for (const match of JSON.stringify(value).matchAll(/"#\/\$defs\/([^"/]+)/g)) {
      const name = match[1] ?? '';
      const definition = documentedSchema.$defs?.[name];
      if (definition === undefined || used.has(name)) continue;
      used.set(name, definition);
      visit(definition);
    }
  };
  visit(schema);
  const head = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema };
  return used.size === 0 ? head : { ...head, $defs: Object.fromEntries(used) };
}

/** The published schema of workflow files, with documentation: a separate file of the program, loaded on demand. */
export const documentedSchema = document as unknown as Schema;
