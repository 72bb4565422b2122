import { parseSpan } from '#core/time-text.ts';
import type { Json } from '#core/workflow.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { type Problem, pathMark, type Source } from '../diagnostic.ts';
import { isJsonObject } from '../raw.ts';
import { resolve, typesOf } from '../schema/schema.ts';
import type { Schema } from '../schema/schema-type.ts';
import {
  admitsValue,
  guessedKey,
  keyOf,
  knownKey,
  type PairContext,
  refuseDuplicate,
  reportAliasBomb,
  schemaFor,
} from './map-key.ts';
import {
  type AliasNode,
  DEEPEST,
  type ListNode,
  type MapEntry,
  type MapNode,
  type Node,
  type Range,
  type Reader,
  type Recorder,
  rangeOf,
  report,
  type ScalarNode,
  type Target,
  textOf,
  type YamlDocument,
} from './node.ts';

/** The content of a file, with documented keys in their documented spelling and without unknown keys. */
type ReadResult = {
  readonly value: Json;
  readonly problems: readonly Problem[];
  /** Maps that lack a value because it could not be read. */
  readonly damaged: ReadonlySet<unknown>;
  /** Keys that differ from their documented spelling, by `pathMark` of their value. */
  readonly spellings: ReadonlyMap<string, string>;
};

/** Maximum number of unknown keys with suggestions: a file with more is not a workflow anyway. */
const MOST_SUGGESTIONS = 50;

/** Converts a document to plain values by the schema. A `record` gets all positions. */
export function read(source: Source, document: YamlDocument, schema: Schema, record?: Recorder): ReadResult {
  const reader: Reader = {
    source,
    problems: [],
    anchors: new Map(),
    record: record ?? null,
    reported: new Set(),
    damaged: new Set(),
    spellings: new Map(),
    aliases: { depth: 0, values: 0, letters: 0 },
    suggestionsLeft: MOST_SUGGESTIONS,
  };
  for (const range of document.unknownTags) {
    report(reader, 'unknown-tag', range, 'unknown tag', { help: 'Write the value without a tag.' });
  }
  const contents = document.contents;
  const value = contents === null ? null : readNode(reader, contents, { path: [], schema: resolve(schema), depth: 0 });
  return { value, problems: reader.problems, damaged: reader.damaged, spellings: reader.spellings };
}

function readNode(reader: Reader, node: Node, position: Target): Json {
  if (node.kind === 'alias') return readAlias(reader, node, position);
  if (reader.aliases.depth > 0 && !admitsValue(reader, node)) return null;
  const { anchor } = node;
  if (anchor !== undefined) reader.anchors.set(anchor, { node, open: true });
  const value = readPlain(reader, node, position);
  if (anchor !== undefined) reader.anchors.set(anchor, { node, open: false });
  return value;
}

function readPlain(reader: Reader, node: Exclude<Node, AliasNode>, position: Target): Json {
  if (position.depth > DEEPEST) {
    const message = `maps and lists are nested more than ${DEEPEST} levels deep`;
    return report(reader, 'nesting-too-deep', rangeOf(node), message);
  }
  if (node.kind === 'scalar') {
    const value = scalarOf(node, position.schema);
    // No program accepts an argument or a variable that contains a zero byte.
    const isRefused = typeof value === 'string' && value.includes('\0');
    if (!isRefused) return value;
    return report(reader, 'control-character', rangeOf(node), 'a text cannot contain the character U+0000');
  }
  if (node.kind === 'list') return readList(reader, node, position);
  if (!reader.source.text.startsWith('{{', node.start)) return readMap(reader, node, position);
  // For YAML this is a map with a map as its key.
  return report(reader, 'complex-key', rangeOf(node), 'text that starts with "{{" must be in quotes', {
    label: 'YAML reads this as a map',
    help: 'Put the whole text in quotes. wf has no templates: it replaces variables, such as $NAME.',
  });
}

/** A length such as `2d12h` counts as its seconds where a number of seconds is expected. */
function scalarOf(node: ScalarNode, schema: Schema): Json {
  const types = typesOf(schema);
  // A number that may be a variable is read as a number: `"3"` is one.
  const wanted = schema['x-number'] === true ? (types ?? []).filter((type) => type !== 'string') : types;
  const value = scalarValue(node, wanted, schema.enum);
  if (schema['x-seconds'] !== true || typeof value !== 'string') return value;
  const spanMs = parseSpan(value);
  return spanMs === null ? value : spanMs / 1000;
}

function readAlias(reader: Reader, node: AliasNode, position: Target): Json {
  const { anchors } = reader;
  const target = anchors.get(node.name);
  if (target === undefined) {
    const count = anchors.size;
    return report(reader, 'unknown-anchor', rangeOf(node), `no anchor "&${node.name}" is defined before this alias`, {
      // Later anchors cannot be meant.
      label: () => didYouMean(nearNames(node.name, [...anchors.keys()].slice(0, count))),
      help: 'Text that starts with "*" must be in quotes.',
    });
  }
  if (target.open) {
    const message = `the alias "*${node.name}" refers to a value that contains it`;
    return report(reader, 'alias-limit', rangeOf(node), message);
  }
  reader.aliases.depth++;
  const value = readNode(reader, target.node, position);
  reader.aliases.depth--;
  if (reader.aliases.depth === 0) reportAliasBomb(reader, node);
  return value;
}

function readList(reader: Reader, node: ListNode, position: Target): Json {
  const schema = resolve(position.schema.items ?? {});
  return node.items.map((child, index) => {
    const path = [...position.path, index];
    reader.record?.(path, rangeOf(child), rangeOf(child));
    return readNode(reader, child, { path, schema, depth: position.depth + 1 });
  });
}

function readMap(reader: Reader, node: MapNode, position: Target): Json {
  const result: Record<string, Json> = {};
  const seen = new Map<string, { key: string; range: Range }>();
  const schema = position.schema;
  const merges = node.entries.filter(isMerge);
  for (const merge of merges) readMerge(reader, merge, position, result);
  for (const pair of node.entries) {
    if (merges.includes(pair)) continue;
    const key = keyOf(reader, pair);
    if (key === null) reader.damaged.add(result);
    else readPair(reader, { pair, key, schema: schemaFor(key.text, node, schema), position, result, seen });
  }
  return result;
}

/** `<<: *defaults`: the keys of other maps, read before the map's own keys, which replace them. */
function readMerge(reader: Reader, { key, value }: MapEntry, position: Target, result: Record<string, Json>): void {
  const sources = value?.kind === 'list' ? value.items : [value];
  for (const source of sources) {
    const before = reader.problems.length;
    const merged = source === null ? null : readNode(reader, source, position);
    if (merged === null && reader.problems.length > before) reader.damaged.add(result);
    else if (!isJsonObject(merged))
      report(reader, 'wrong-type', rangeOf(source ?? key), '"<<" takes a map, or a list of maps');
    else for (const [name, part] of Object.entries(merged)) if (!(name in result)) result[name] = part;
  }
}

function readPair(reader: Reader, context: PairContext): void {
  const { key, result, position } = context;
  const isDocumented = context.schema.properties !== undefined;
  const node = context.pair.value;
  const depth = position.depth + 1;
  const known = knownKey(context) ?? guessedKey(reader, context);
  if (known === null || refuseDuplicate(reader, context, known)) {
    // An ignored value may still contain anchors that others refer to.
    if (node !== null) readNode({ ...reader, record: null }, node, { path: position.path, schema: {}, depth });
    return;
  }
  const path = [...position.path, known.name];
  // An unknown key before this one may have been read as a guess for it.
  if (key.written !== known.name) reader.spellings.set(pathMark(path), key.written);
  else reader.spellings.delete(pathMark(path));
  const range = node === null ? key.range : rangeOf(node);
  reader.record?.(path, key.range, range[0] === range[1] ? key.range : range);
  const before = reader.problems.length;
  const value = node === null ? null : readNode(reader, node, { path, schema: known.schema, depth });
  if (value !== null) {
    result[known.name] = value;
    return;
  }
  if (reader.problems.length === before && known.name === 'expected' && isDocumented) noExpectedValue(reader, context);
  if (reader.problems.length > before) reader.damaged.add(result);
  // A documented key without a value counts as absent; an entry of `env` is empty, one of `params` is open.
  const types = typesOf(known.schema) ?? [];
  if (!isDocumented) result[known.name] = types.includes('string') && !types.includes('null') ? '' : null;
}

/** If the key counted as absent, the condition would be a command, which an empty variable always lets pass. */
function noExpectedValue(reader: Reader, { key: { text, range }, pair: { value } }: PairContext): void {
  const written = value?.kind === 'scalar' ? textOf(value) : '';
  report(reader, 'wrong-value', range, `"${text}" has no value`, {
    help: `Write ${text}: ${JSON.stringify(written)} if the condition must ${written === '' ? 'be empty' : 'have this text'}.`,
  });
}

function isMerge({ key }: MapEntry): boolean {
  return key?.kind === 'scalar' && key.isPlain && key.text === '<<';
}

const TRUE = new Set(['true', 'yes', 'on', 'y']);
const FALSE = new Set(['false', 'no', 'off', 'n']);
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

/**
 * Converts a scalar to the type expected: `1.10` stays text if text is expected, `yes` and `"true"` become booleans
 * and `"587"` a number if one is expected. Otherwise it has its type in YAML 1.2, and the schema reports it. `types`
 * are names of JSON types; null: any. `words` are the only texts allowed; empty: any text is.
 */
function scalarValue(node: ScalarNode, types: readonly string[] | null, words: readonly unknown[] = []): Json {
  const native = nativeValue(node);
  if (types === null || native === null) return native;
  const text = textOf(node);
  if (types.includes('boolean')) {
    if (typeof native === 'boolean') return native;
    const word = text.toLowerCase();
    const isText = types.includes('string') && (words.length === 0 || words.includes(text));
    if (!isText && TRUE.has(word)) return true;
    if (!isText && FALSE.has(word)) return false;
  }
  if (types.includes('number') || types.includes('integer')) {
    if (typeof native === 'number') return native;
    if (typeof native === 'string' && !types.includes('string') && NUMBER.test(text)) return Number(text);
  }
  return types.includes('string') ? text : native;
}

function nativeValue(node: ScalarNode): Json {
  const value = node.value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return textOf(node);
}
