import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../core/workflow.ts';
import { messageOf } from '../../errors.ts';
import { patternTest } from '../../pattern-test.ts';
import { isJsonObject } from '../raw.ts';

/**
 * A value that a schema does not accept: its path, and a message that completes a sentence about it, such as `must be at
 * most 9`. `missing`: the name of the property that is missing at the path.
 */
export type SchemaFault = {
  readonly path: readonly string[];
  readonly message: string;
  readonly missing: string | null;
};

/** Returns what a schema does not accept in a value; empty if it accepts it. */
export type SchemaTest = (value: Json) => readonly SchemaFault[];

/** Keywords whose values are data. */
const DATA = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose values are maps of schemas by names. */
const NAMED = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']);

const compiled = new WeakMap<JsonObject, SchemaTest>();

/**
 * Compiles a JSON Schema of draft 7 or 2020-12. Formats are not checked; patterns have the syntax of RE2. Throws an
 * `Error` with the reason if the schema is invalid. The compiler is loaded here only: few files have a schema, and it
 * takes tens of milliseconds.
 */
export function compileSchema(schema: JsonObject): SchemaTest {
  const kept = compiled.get(schema);
  if (kept !== undefined) return kept;
  const engine = require('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 };
  const ajv = new engine.Ajv2020({
    allErrors: true,
    strict: false,
    logger: false,
    validateFormats: false,
    code: { regExp: Object.assign(pattern, { code: '' }) },
  });
  const { $schema: _, ...rest } = schema;
  const modern = withPrefixItems(rest);
  if (ajv.validateSchema(modern) !== true) throw new InvalidSchema((ajv.errors ?? []).map(faultOf));
  const validate = ajv.compile(modern);
  const test = (value: Json) => (validate(value) ? [] : (validate.errors ?? []).filter(isOwn).map(faultOf));
  compiled.set(schema, test);
  return test;
}

/** The reason why a JSON Schema is invalid; null if it is valid. */
export function schemaProblem(schema: JsonObject): Omit<SchemaFault, 'missing'> | null {
  try {
    compileSchema(schema)({});
    return null;
  } catch (error) {
    if (error instanceof InvalidSchema && error.faults[0] !== undefined) return error.faults[0];
    if (error instanceof RangeError) return { path: [], message: 'refers to itself without end' };
    return { path: [], message: `is invalid: ${messageOf(error)}` };
  }
}

/** A schema that is not accepted by the schema of schemas. */
class InvalidSchema extends Error {
  readonly faults: readonly SchemaFault[];

  constructor(faults: readonly SchemaFault[]) {
    super('the schema is invalid');
    this.faults = faults;
  }
}

/** The compiler identifies an expression by its text. */
function pattern(source: string): { test: (text: string) => boolean; toString: () => string } {
  return { test: patternTest(source), toString: () => `/${source}/` };
}

/** Draft 7 has a list under `items` where 2020-12 has `prefixItems`. */
function withPrefixItems(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, part]): [string, Json] => {
    if (DATA.has(key)) return [key, part];
    if (!NAMED.has(key) || !isJsonObject(part)) return [key, inner(part)];
    return [key, Object.fromEntries(Object.entries(part).map(([name, value]) => [name, inner(value)]))];
  });
  const { items, additionalItems, ...rest } = Object.fromEntries(entries) as Record<string, Json>;
  if (!Array.isArray(items)) return Object.fromEntries(entries);
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}

function inner(part: Json): Json {
  if (Array.isArray(part)) return part.map(inner);
  return isJsonObject(part) ? withPrefixItems(part) : part;
}

/** The error of `if` only repeats that of `then` or `else`. */
function isOwn({ keyword }: ErrorObject): boolean {
  return keyword !== 'if';
}

function faultOf({ instancePath, keyword, message, params }: ErrorObject): SchemaFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing: unknown = keyword === 'required' || keyword === 'dependentRequired' ? params['missingProperty'] : null;
  const allowed: unknown = keyword === 'enum' ? params['allowedValues'] : null;
  return {
    path,
    message: Array.isArray(allowed) ? `must be one of ${allowed.map(plain).join(', ')}` : (message ?? 'is not valid'),
    missing: typeof missing === 'string' ? missing : null,
  };
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
