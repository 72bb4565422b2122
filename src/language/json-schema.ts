import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '#core/workflow.ts';
import { messageOf } from '#system/errors.ts';
import { patternSize, patternTest } from '#system/pattern.ts';
import { isJsonObject } from './raw.ts';

/** A value that a schema does not accept; `missing`: the property that is missing at the path. */
export type SchemaFault = {
  readonly path: readonly string[];
  readonly message: string;
  readonly missing: string | null;
};

/** Returns what a schema does not accept in a value; empty if it accepts it. */
type SchemaTest = (value: Json) => readonly SchemaFault[];

/** Maximum number of parts in a schema, and of parts visited while its own defaults are checked. */
export const MOST_SCHEMA_PARTS = 10_000;
/** The visits allowed for each letter of a value, and for any value. */
const VISITS_PER_LETTER = 40;
const MOST_VISITS = 2_000_000;
/** Faults of one value, which a message cannot list all. */
const MOST_FAULTS = 100;

/** Keywords whose values are data. */
export const DATA: ReadonlySet<string> = new Set(['const', 'default', 'dependentRequired', 'enum']);
/** Keywords whose values are maps of schemas by names. */
export const NAMED: ReadonlySet<string> = new Set(
  '$defs definitions dependencies dependentSchemas patternProperties properties'.split(' '),
);
/** The keyword added to each part of a schema: its path, and the cost of one visit. */
const VISIT = 'x-visit';
type Visit = { readonly path: readonly string[]; readonly cost: number };

type Check = { readonly test: SchemaTest; readonly own: (value: Json) => readonly SchemaFault[] };
const compiled = new WeakMap<JsonObject, Check>();

/** The visits left in the check under way; checks are synchronous. */
let visitsLeft = 0;

/**
 * Compiles a JSON Schema of draft 7 or 2020-12. Formats are not checked; patterns have the syntax of RE2. Throws an
 * `Error` with the reason if the schema is invalid. The compiler is loaded here only: few files have a schema, and it
 * takes tens of milliseconds.
 */
export function compileSchema(schema: JsonObject): SchemaTest {
  return checkOf(schema).test;
}

function checkOf(schema: JsonObject): Check {
  const kept = compiled.get(schema);
  if (kept !== undefined) return kept;
  const engine = require('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 };
  const ajv = new engine.Ajv2020({
    allErrors: true,
    strict: false,
    logger: false,
    validateFormats: false,
    // A copy for each reference would multiply the time of compiling.
    inlineRefs: false,
    code: { regExp: Object.assign(pattern, { code: '' }) },
  });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: uniqueItems });
  const countVisit = ({ path, cost }: Visit, data: unknown) => {
    spend(cost + sizeOf(data), path);
    return true;
  };
  ajv.addKeyword({ keyword: VISIT, errors: false, validate: countVisit });
  // The schema of schemas visits each part once.
  visitsLeft = Number.POSITIVE_INFINITY;
  const { $schema: _, ...rest } = schema;
  if (ajv.validateSchema(modernized(rest, null) as JsonObject) !== true)
    throw new InvalidSchema((ajv.errors ?? []).map(faultOf));
  const validate = ajv.compile(modernized(rest, []) as JsonObject);
  const own = (value: Json, visits = MOST_SCHEMA_PARTS) => {
    visitsLeft = visits;
    const errors = validate(value) ? [] : (validate.errors ?? []).slice(0, MOST_FAULTS);
    // The error of `if` only repeats that of `then` or `else`.
    return errors.filter(({ keyword }) => keyword !== 'if').map(faultOf);
  };
  const check = { own, test: (value: Json) => tested(value, own) };
  compiled.set(schema, check);
  return check;
}

/** Checks a value of others, whose size limits the time. */
function tested(value: Json, own: (value: Json, visits: number) => readonly SchemaFault[]): readonly SchemaFault[] {
  const whole = (message: string) => [{ path: [], message, missing: null }];
  try {
    const letters = JSON.stringify(value).length;
    return own(value, Math.min(MOST_VISITS, MOST_SCHEMA_PARTS + VISITS_PER_LETTER * letters));
  } catch (error) {
    if (error instanceof TooManyVisits) return whole('take too many steps to check against the schema');
    if (error instanceof RangeError) return whole('are nested too deeply to check against the schema');
    throw error;
  }
}

/** The reason why a JSON Schema is invalid, or takes too long for the `presets`; null if it is valid. */
export function schemaProblem(schema: JsonObject, presets: JsonObject = {}): Omit<SchemaFault, 'missing'> | null {
  try {
    checkOf(schema).own(presets);
    return null;
  } catch (error) {
    if (error instanceof InvalidSchema && error.faults[0] !== undefined) return error.faults[0];
    if (error instanceof TooManyVisits) {
      const message = 'takes more than 10,000 steps to check: refer to fewer parts, or less often';
      return { path: error.path, message };
    }
    if (error instanceof RangeError) return { path: [], message: 'refers to itself without end' };
    return { path: [], message: `is invalid: ${messageOf(error)}` };
  }
}

/** The check of a value visits more parts of the schema than allowed; the last of them is at `path`. */
class TooManyVisits extends Error {
  readonly path: readonly string[];

  constructor(path: readonly string[]) {
    super('the schema takes too many steps to check');
    this.path = path;
  }
}

function spend(visits: number, path: readonly string[]): void {
  visitsLeft -= visits;
  if (visitsLeft < 0) throw new TooManyVisits(path);
}

/** The part of a value's size that one visit goes through. */
function sizeOf(data: unknown): number {
  if (typeof data === 'string') return data.length / 100;
  if (typeof data !== 'object' || data === null) return 0;
  return Array.isArray(data) ? data.length : Object.keys(data).length;
}

/** In one pass; the default of the compiler compares each item with each other. */
const uniqueItems: { (isWanted: boolean, items: readonly Json[]): boolean; errors?: Partial<ErrorObject>[] } = (
  isWanted: boolean,
  items: readonly Json[],
): boolean => {
  if (!isWanted) return true;
  const last = new Map<string, number>();
  let pair: readonly [number, number] | null = null;
  for (const [index, item] of items.entries()) {
    const text = canonical(item);
    spend(text.length / 40, []);
    const before = last.get(text);
    if (before !== undefined) pair = [before, index];
    last.set(text, index);
  }
  if (pair === null) return true;
  const [j, i] = pair;
  const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
  uniqueItems.errors = [{ keyword: 'uniqueItems', params: { i, j }, message }];
  return false;
};

/** The JSON of a value with the keys of its maps in order. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`).join()}}`;
}

/** The number of parts of a schema: its maps, lists and values. */
export function schemaParts(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part: Json) => sum + schemaParts(part), 1);
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
  const test = patternTest(source);
  const size = patternSize(source);
  const counted = (text: string) => {
    spend((size * text.length) / 1000, []);
    return test(text);
  };
  return { test: counted, toString: () => `/${source}/` };
}

/** Reads draft 7, whose `items` may be a list, as 2020-12; `path`: of the part, null if visits are not counted. */
function modernized(part: Json, path: readonly string[] | null): Json {
  const below = (value: Json, ...keys: readonly string[]) => modernized(value, path && [...path, ...keys]);
  if (Array.isArray(part)) return part.map((value: Json, index) => below(value, String(index)));
  if (!isJsonObject(part)) return part;
  const entries = Object.entries(part).map(([key, value]): [string, Json] => {
    if (DATA.has(key)) return [key, value];
    if (!NAMED.has(key) || !isJsonObject(value)) return [key, below(value, key)];
    return [key, Object.fromEntries(Object.entries(value).map(([name, own]) => [name, below(own, key, name)]))];
  });
  const visit = path === null ? {} : { [VISIT]: { path, cost: costOf(part) } };
  const whole: Record<string, Json> = { ...Object.fromEntries(entries), ...visit };
  const { items, additionalItems, ...rest } = whole;
  if (!Array.isArray(items)) return whole;
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}

/** The values that one visit compares, without those of the parts below. */
function costOf(part: JsonObject): number {
  return Object.entries(part).reduce((sum, [key, value]) => {
    if (DATA.has(key)) return sum + schemaParts(value);
    return sum + (typeof value === 'object' && value !== null ? Object.keys(value).length : 0);
  }, 1);
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
    message: Array.isArray(allowed) ? `must be one of ${allowed.map(textOf).join(', ')}` : (message ?? 'is not valid'),
    missing: typeof missing === 'string' ? missing : null,
  };
}

/** A text as it is; any other value as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
