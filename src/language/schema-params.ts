import type { Json, JsonObject } from '#core/workflow.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { patternProblem } from '#system/pattern.ts';
import { declarationFaults } from './declared-params.ts';
import { nearestOf, type Path, type Problem, pathMark, problem, type Source, type Spot } from './diagnostic.ts';
import {
  compileSchema,
  DATA,
  MOST_SCHEMA_PARTS,
  NAMED,
  type SchemaFault,
  schemaParts,
  schemaProblem,
  textOf,
} from './json-schema.ts';
import { isJsonObject, type OpenTextMap, VARIABLE_NAME } from './raw.ts';
import type { ByteLimit } from './read/decode.ts';
import type { Range } from './read/node.ts';
import { parse } from './read/parse.ts';
import { read } from './read/read.ts';
import { type SpecFile, spotIn } from './read/spec-file.ts';

/** A file with a schema, or why it is not read, as the end of a sentence: `does not exist`. */
export type FoundSchema = { readonly source: Source; readonly problems: readonly Problem[] } | { readonly why: string };

/** A workflow file whose `params` are declared parameters, and the schema that they came from. */
export type SchemaRead = {
  readonly file: SpecFile;
  /** Null if `params` is no schema. */
  readonly schema: JsonObject | null;
  /** The file with the schema. */
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
};

/** The cost of compiling one part of a schema, as the bytes that are read in the same time. */
const BYTES_PER_PART = 100;

/** Keywords of a schema that are no text; a map of `params` is read as a map of texts. */
const WORDS: { readonly [text: string]: Json } = { true: true, false: false };

/** Replaces a JSON Schema in `params`, or in the file that `find` reads, by the parameters that it declares. */
export function readParamSchema(file: SpecFile, find: (path: string) => FoundSchema, count: ByteLimit): SchemaRead {
  const params = file.raw.params as Json | undefined;
  const none: SchemaRead = { file, schema: null, sources: [], problems: [] };
  if (params === undefined || !isJsonObject(params)) return none;
  const inFile = (path: Path) => spotIn(file, ['params', ...path]);
  // `params: {type: object, properties: ...}`
  if (params.type === 'object' && isJsonObject(params.properties)) {
    return declared(file, withTypes(params), {}, (_at, path) => inFile(path), count);
  }
  const { schema, values = {}, ...more } = params;
  const isFile = typeof schema === 'string';
  const [other] = Object.keys(more);
  const isBeside = isFile ? /\.json$/i.test(schema) && other === undefined : isJsonObject(schema);
  if (!isBeside) return none;
  if (other !== undefined) {
    const message = `unknown key "${other}" beside "schema" in "params"; it takes values`;
    return failed(file, problem('unknown-key', spotIn(file, ['params', other], 'key'), message));
  }
  if (!isJsonObject(values)) {
    const message = '"values" beside "schema" in "params" must be a map of names and defaults';
    return failed(file, problem('wrong-type', inFile(['values']), message));
  }
  if (isFile) return fromFile(file, schema, values, find(schema), count);
  return declared(file, schema as JsonObject, values, (at, path) => inFile([at, ...path]), count);
}

/** Gives keywords that were read as texts their types again. */
function withTypes(params: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => {
      if (typeof value !== 'string') return [key, value];
      if (/^(?:min|max)Properties$/.test(key) && /^\d+$/.test(value)) return [key, Number(value)];
      return [key, /Properties$/.test(key) ? (WORDS[value] ?? value) : value];
    }),
  );
}

type ToSpot = (at: 'schema' | 'values', path: Path) => Spot;

function declared(
  file: SpecFile,
  schema: JsonObject,
  values: JsonObject,
  toSpot: ToSpot,
  count: ByteLimit,
): SchemaRead {
  count({ length: schemaParts(schema) * BYTES_PER_PART });
  const { entries, faults } = schemaParams(schema, values);
  const problems = faults.map(({ at, path, message }) => problem('wrong-value', toSpot(at, path), message));
  // Names stay known, so that their uses are not reported, too.
  const names = entries.map(({ name }) => ({ name: name ?? null, type: 'string' }));
  return { file: withParams(file, problems.length > 0 ? names : entries), schema, sources: [], problems };
}

function fromFile(file: SpecFile, path: string, values: JsonObject, found: FoundSchema, count: ByteLimit): SchemaRead {
  if ('why' in found) {
    const spot = spotIn(file, ['params', 'schema']);
    return failed(file, problem('unreadable', spot, `the schema "${path}" ${found.why}`));
  }
  const { source } = found;
  const parsed = found.problems.length > 0 ? { document: null, problems: found.problems } : parse(source);
  const ranges = new Map<string, Range>();
  const result =
    parsed.problems.length > 0 || parsed.document === null
      ? { value: null, problems: parsed.problems }
      : read(source, parsed.document, {}, (at, _key, value) => ranges.set(pathMark(at), value));
  const [first] = result.problems;
  if (first !== undefined) return { ...failed(file, first), sources: [source] };
  if (!isJsonObject(result.value)) {
    const message = `the schema "${path}" is not a JSON object`;
    return { ...failed(file, problem('wrong-type', { source, range: [0, 0] }, message)), sources: [source] };
  }
  const toSpot: ToSpot = (at, inner) => {
    if (at === 'values') return spotIn(file, ['params', 'values', ...inner]);
    return { source, range: rangeAt(ranges, inner, source) };
  };
  return { ...declared(file, result.value, values, toSpot, count), sources: [source] };
}

/** The range of a value, or of the nearest enclosing value that has one, as far as its first line goes. */
function rangeAt(ranges: ReadonlyMap<string, Range>, path: Path, { text }: Source): Range {
  const found = nearestOf(ranges, path)?.found;
  if (found === undefined) return [0, 1];
  const lineEnd = text.indexOf('\n', found[0]);
  return lineEnd === -1 ? found : [found[0], Math.min(found[1], lineEnd)];
}

function failed(file: SpecFile, found: Problem): SchemaRead {
  return { file: withParams(file, []), schema: null, sources: [], problems: [found] };
}

function withParams(file: SpecFile, params: NonNullable<SpecFile['raw']['params']>): SpecFile {
  const raw = { ...file.raw, params };
  return { ...file, raw, damaged: file.damaged.has(file.raw) ? new Set([...file.damaged, raw]) : file.damaged };
}

/** A part of a schema, or of the defaults beside it, and why it is invalid. */
type SchemaPartFault = { readonly at: 'schema' | 'values'; readonly path: Path; readonly message: string };

const DRAFTS = /^https?:\/\/json-schema\.org\/(?:draft-07\/schema#?|draft\/2020-12\/schema#?)$/;
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
/** Keywords that a declared parameter has, too. */
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'description'] as const;

/** Converts the properties of a schema to declared parameters. `values`: defaults before those of the schema. */
function schemaParams(
  schema: JsonObject,
  values: JsonObject,
): { readonly entries: readonly OpenTextMap[]; readonly faults: readonly SchemaPartFault[] } {
  const faults: SchemaPartFault[] = outlineFaults(schema);
  if (faults.length > 0) return { entries: [], faults };
  const problem = wholeFault(schemaProblem(schema));
  if (problem !== null) return { entries: [], faults: [problem] };
  const properties = schema['properties'] as JsonObject;
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const entries = Object.entries(properties).flatMap(([name, property]) => {
    const at = (message: string): readonly OpenTextMap[] => {
      faults.push({ at: 'schema', path: ['properties', name], message });
      return [];
    };
    if (!VARIABLE_NAME.test(name)) return at(`"${name}" is not the name of a parameter`);
    const resolved = resolve(property, schema);
    const type = resolved === null ? null : typeOf(resolved);
    if (resolved === null || type === null) {
      return at(`parameter "${name}" needs a "type": one of ${TYPES.join(', ')}`);
    }
    const preset = (Object.hasOwn(values, name) ? values[name] : resolved['default']) ?? null;
    const ifAbsent: OpenTextMap = required.has(name) ? { required: 'true' } : {};
    const given = preset === null ? ifAbsent : { default: textOf(preset) };
    const entry = { name, type, ...given, ...limits(type, resolved) };
    for (const { key, message } of declarationFaults(entry)) {
      const isValue = key === 'default' && Object.hasOwn(values, name);
      const path = isValue ? [name] : ['properties', name, ...(key === null ? [] : [key])];
      faults.push({ at: isValue ? 'values' : 'schema', path, message: `parameter "${name}": ${message}` });
    }
    return [entry];
  });
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(properties, name)) continue;
    const near = didYouMean(nearNames(name, Object.keys(properties)));
    const message = `the schema has no parameter "${name}"${near === '' ? '' : `: ${near}`}`;
    faults.push({ at: 'values', path: [name], message });
  }
  return { entries, faults: faults.length > 0 ? faults : presetFaults(schema, properties, values) };
}

function wholeFault(problem: ReturnType<typeof schemaProblem>): SchemaPartFault | null {
  if (problem === null) return null;
  const isIndex = (part: string) => /^\d+$/.test(part);
  const { path, message } = problem;
  const last = path.at(-1) ?? '';
  const subject = last === '' ? 'the schema' : `"${isIndex(last) ? path.join('.') : last}" in the schema`;
  const written = path.map((part) => (isIndex(part) ? Number(part) : part));
  return { at: 'schema', path: written, message: `${subject} ${message}` };
}

/** Checks the schema before it is compiled. */
function outlineFaults(schema: JsonObject): SchemaPartFault[] {
  const draft = schema['$schema'];
  if (draft !== undefined && !(typeof draft === 'string' && DRAFTS.test(draft))) {
    const message = `the schema must be of draft 7 or 2020-12, not ${JSON.stringify(draft)}`;
    return [{ at: 'schema', path: ['$schema'], message }];
  }
  if ((schema['type'] ?? 'object') !== 'object' || !isJsonObject(schema['properties'])) {
    const message = 'the schema of parameters must have "type": "object" and "properties"';
    return [{ at: 'schema', path: [], message }];
  }
  const parts = schemaParts(schema);
  if (parts > MOST_SCHEMA_PARTS) {
    return [{ at: 'schema', path: [], message: `the schema has ${parts} parts; at most 10,000 are read` }];
  }
  return textFaults(schema, []);
}

/** References to other documents, which are not read, and invalid patterns. */
function textFaults(value: Json | undefined, path: Path): SchemaPartFault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, Json]): SchemaPartFault[] => {
    const own = [...path, Array.isArray(value) ? Number(key) : key];
    if (typeof part !== 'string') return textFaults(part, own);
    const message = textFault(key, part);
    return message === null ? [] : [{ at: 'schema', path: own, message }];
  });
}

function textFault(key: string, text: string): string | null {
  if (key === 'pattern') {
    const problem = patternProblem(text);
    return problem === null ? null : `"${text}" is not a regular expression: ${problem}`;
  }
  if (!/^\$(?:ref|dynamicRef)$/.test(key)) return null;
  const keys = text.split('/').slice(1);
  const leadsToData = keys.some((name, index) => DATA.has(name) && !NAMED.has(keys[index - 1] ?? ''));
  if (text.startsWith('#') && !leadsToData) return null;
  return `"${key}" must refer to a part of the same schema, as "#/$defs/NAME", not to "${text}"`;
}

/** Follows references to parts of the schema, whose keywords the property may override. */
function resolve(property: Json | undefined, root: JsonObject): JsonObject | null {
  let current = isJsonObject(property) ? property : null;
  const seen = new Set<string>();
  while (current !== null && typeof current['$ref'] === 'string' && !seen.has(current['$ref'])) {
    const { $ref, ...own } = current;
    seen.add(String($ref));
    const target = partAt(root, String($ref));
    current = target === null ? null : { ...target, ...own };
  }
  return current;
}

function partAt(root: JsonObject, reference: string): JsonObject | null {
  let at: Json | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null ? (at as { readonly [key: string]: Json })[key] : undefined;
  }
  return isJsonObject(at) ? at : null;
}

/** The type of a property, without `null`; that of its allowed values if it has none. */
function typeOf({ type, enum: allowed, const: only }: JsonObject): string | null {
  if (type === undefined) {
    const values: readonly Json[] = Array.isArray(allowed) ? allowed : only === undefined ? [] : [only];
    const [kind = null, ...others] = new Set(values.map((value) => (Array.isArray(value) ? 'array' : typeof value)));
    return others.length === 0 ? kind : null;
  }
  const types = (Array.isArray(type) ? type : [type]).filter((name) => name !== 'null');
  const [first] = types;
  return types.length === 1 && TYPES.includes(String(first)) ? String(first) : null;
}

/** What a declared parameter accepts, of the keywords of its property. */
function limits(type: string, property: JsonObject): OpenTextMap {
  const isNumber = type === 'integer' || type === 'number';
  const kept = LIMITS.filter((key) => {
    if (property[key] === undefined) return false;
    return key === 'description' || (key === 'minimum' || key === 'maximum' ? isNumber : type === 'string');
  });
  const allowed = property['enum'];
  const hasChoices = Array.isArray(allowed) && (isNumber || type === 'string');
  return {
    ...(hasChoices ? { enum: allowed.filter((value: Json) => value !== null).map(textOf) } : {}),
    ...Object.fromEntries(kept.map((key) => [key, textOf(property[key] ?? '')])),
  };
}

/** Checks the defaults together, as a check of single declarations cannot. */
function presetFaults(schema: JsonObject, properties: JsonObject, values: JsonObject): readonly SchemaPartFault[] {
  const presets = Object.entries(properties).flatMap(([name, property]) => {
    const value = values[name] ?? resolve(property, schema)?.['default'];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  const given = Object.fromEntries(presets);
  const problem = wholeFault(schemaProblem(schema, given));
  if (problem !== null) return [problem];
  return judgedNow(schema, given).flatMap(({ path: [name, ...rest], message }) => {
    if (name === undefined) return [];
    const isValue = Object.hasOwn(values, name);
    const what = `the default of parameter "${[name, ...rest].join('.')}" ${message}`;
    const path = isValue ? [name] : ['properties', name, 'default'];
    return [{ at: isValue ? 'values' : 'schema', path, message: what } as const];
  });
}

/** Keywords by which one property decides about another. */
const COMBINING = new Set(
  'allOf anyOf dependencies dependentRequired dependentSchemas else if not oneOf then'.split(' '),
);

/** The faults of defaults that no given value can change; a start checks all values together. */
function judgedNow(schema: JsonObject, given: JsonObject): readonly SchemaFault[] {
  // While a required property has no default, each default is checked by itself.
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  if (required.every((name: Json) => Object.hasOwn(given, String(name)))) return compileSchema(schema)(given);
  const alone = Object.fromEntries(Object.entries(schema).filter(([key]) => !COMBINING.has(key)));
  // A reference may lead to a part that is left out.
  return schemaProblem(alone, given) === null ? compileSchema(alone)(given) : [];
}
