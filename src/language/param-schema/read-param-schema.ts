import type { Json, JsonObject } from '#core/workflow.ts';
import type { Source } from '../diagnostic.ts';
import { type Path, type Problem, pathMark, problem, type Spot } from '../problem.ts';
import { isJsonObject } from '../raw.ts';
import type { ByteLimit } from '../read/byte-limit.ts';
import { parse } from '../read/parse.ts';
import { read } from '../read/read.ts';
import type { Range } from '../read/reader.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';
import { schemaParts } from './json-schema.ts';
import { type SchemaPartFault, schemaParams } from './schema-params.ts';

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

/**
 * Replaces a JSON Schema in `params` by the parameters that its properties declare. `find` reads the file that
 * `schema` names.
 */
export function readParamSchema(file: SpecFile, find: (path: string) => FoundSchema, count: ByteLimit): SchemaRead {
  const params = file.raw.params as Json | undefined;
  if (params === undefined || !isJsonObject(params)) return { file, schema: null, sources: [], problems: [] };
  if (isSchema(params))
    return declared(file, { schema: withTypes(params), values: {}, spots: inFile(file, []), count });
  const { schema, values, ...more } = params;
  const isBeside = isJsonObject(schema ?? null) || (typeof schema === 'string' && /\.json$/i.test(schema));
  if (!isBeside || (typeof schema === 'string' && Object.keys(more).length > 0)) {
    return { file, schema: null, sources: [], problems: [] };
  }
  const [other] = Object.keys(more);
  if (other !== undefined) {
    const message = `unknown key "${other}" beside "schema" in "params"; it takes values`;
    return failed(file, [problem('unknown-key', spotIn(file, ['params', other], 'key'), message)]);
  }
  if (values !== undefined && !isJsonObject(values)) {
    const message = '"values" beside "schema" in "params" must be a map of names and defaults';
    return failed(file, [problem('wrong-type', spotIn(file, ['params', 'values']), message)]);
  }
  const given = values ?? {};
  if (isJsonObject(schema ?? null)) {
    return declared(file, { schema: schema as JsonObject, values: given, spots: inFile(file, ['schema']), count });
  }
  return fromFile(file, { path: String(schema), values: given, find, count });
}

/** `params: {type: object, properties: ...}` */
function isSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' && isJsonObject(properties ?? null);
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

function inFile(file: SpecFile, inner: Path): ToSpot {
  return (at, path) => spotIn(file, ['params', ...(at === 'values' ? ['values'] : inner), ...path]);
}

type Given = {
  readonly schema: JsonObject;
  readonly values: JsonObject;
  readonly spots: ToSpot;
  readonly count: ByteLimit;
};

function declared(file: SpecFile, { schema, values, spots, count }: Given): SchemaRead {
  count({ length: schemaParts(schema) * BYTES_PER_PART });
  const { entries, faults } = schemaParams(schema, values);
  const problems = faults.map(({ at, path, message }: SchemaPartFault) =>
    problem('wrong-value', spots(at, path), message),
  );
  // Names stay known, so that their uses are not reported, too.
  const names = entries.map(({ name }) => ({ name: name ?? null, type: 'string' }));
  return { file: withParams(file, problems.length > 0 ? names : entries), schema, sources: [], problems };
}

type InFile = {
  readonly path: string;
  readonly values: JsonObject;
  readonly find: (path: string) => FoundSchema;
  readonly count: ByteLimit;
};

function fromFile(file: SpecFile, { path, values, find, count }: InFile): SchemaRead {
  const found = find(path);
  if ('why' in found) {
    const spot = spotIn(file, ['params', 'schema']);
    return failed(file, [problem('unreadable', spot, `the schema "${path}" ${found.why}`)]);
  }
  const { source } = found;
  const parsed = found.problems.length > 0 ? { document: null, problems: found.problems } : parse(source);
  const ranges = new Map<string, Range>();
  const result =
    parsed.problems.length > 0 || parsed.document === null
      ? { value: null, problems: parsed.problems }
      : read(source, parsed.document, {}, (at, _key, value) => ranges.set(pathMark(at), value));
  const [first] = result.problems;
  if (first !== undefined) return { ...failed(file, [first]), sources: [source] };
  if (!isJsonObject(result.value)) {
    const problems = [problem('wrong-type', { source, range: [0, 0] }, `the schema "${path}" is not a JSON object`)];
    return { ...failed(file, problems), sources: [source] };
  }
  const spots: ToSpot = (at, inner) => {
    if (at === 'values') return spotIn(file, ['params', 'values', ...inner]);
    return { source, range: rangeAt(ranges, inner, source) };
  };
  return { ...declared(file, { schema: result.value, values, spots, count }), sources: [source] };
}

/** The range of a value, or of the nearest enclosing value that has one, as far as its first line goes. */
function rangeAt(ranges: ReadonlyMap<string, Range>, path: Path, { text }: Source): Range {
  for (let length = path.length; length > 0; length--) {
    const found = ranges.get(pathMark(path.slice(0, length)));
    if (found === undefined) continue;
    const lineEnd = text.indexOf('\n', found[0]);
    return lineEnd === -1 ? found : [found[0], Math.min(found[1], lineEnd)];
  }
  return [0, 1];
}

function failed(file: SpecFile, problems: readonly Problem[]): SchemaRead {
  return { file: withParams(file, []), schema: null, sources: [], problems };
}

function withParams(file: SpecFile, params: NonNullable<SpecFile['raw']['params']>): SpecFile {
  const raw = { ...file.raw, params };
  return { ...file, raw, damaged: file.damaged.has(file.raw) ? new Set([...file.damaged, raw]) : file.damaged };
}
