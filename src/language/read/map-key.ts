import type { Json } from '#core/workflow.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import type { Path } from '../diagnostic.ts';
import { executorConfigSchema, executorTypes, type KnownKey, knownKeys, resolve, typesOf } from '../schema/schema.ts';
import { canonicalKey, type Schema } from '../schema/schema-type.ts';
import { type Advice, adviceFor, executorOfType } from './advice.ts';
import { LARGEST_FILE } from './decode.ts';
import {
  type MapEntry,
  type MapNode,
  type Node,
  type Range,
  type Reader,
  rangeOf,
  report,
  type Target,
  textOf,
} from './node.ts';
import { foreignSpace } from './syntax-problem.ts';

/** Keys that would reach into the objects of this program instead of naming something in the file. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
/** Maximum number of keys listed in a help text. */
const MOST_KEYS_IN_HELP = 8;
/** Maximum number of keys below which an unknown key may belong. */
const MOST_HOLDERS = 3;

/** A key, and its spelling in the file. */
type Key = { readonly text: string; readonly written: string; readonly range: Range };
/** An entry of a map being read: `schema` describes the map, `seen` holds the previous keys. */
export type PairContext = {
  readonly pair: MapEntry;
  readonly key: Key;
  readonly schema: Schema;
  readonly position: Target;
  readonly result: Record<string, Json>;
  readonly seen: Map<string, { key: string; range: Range }>;
};

/** The documented key; null if the map does not have it. */
export function knownKey({ key, schema }: PairContext): KnownKey | null {
  const { additionalProperties: additional } = schema;
  const known = schema.properties === undefined ? undefined : knownKeys(schema).get(canonicalKey(key.text));
  if (known !== undefined || additional === false) return known ?? null;
  return { name: key.text, schema: typeof additional === 'object' ? resolve(additional) : {} };
}

/** Reports an unknown key, and returns the key that was probably meant; null for a free key, or if none is similar. */
export function guessedKey(reader: Reader, context: PairContext): KnownKey | null {
  const { pair, key, schema, position, result } = context;
  if (canonicalKey(key.text) === 'x-ignore') {
    report(reader, 'unknown-key', key.range, `"${key.text}"${inWhat(position, result)} has no effect`, {
      help: 'Write it in a step, in a handler, or at the top of the file.',
    });
  }
  if (/^x-/i.test(key.text)) return null;
  const message = `unknown key "${key.text}"${inWhat(position, result)}`;
  if (reader.suggestionsLeft-- <= 0) return report(reader, 'unknown-key', key.range, message);
  // The executor whose settings the schema describes.
  const executor = executorTypes().find((name) => executorConfigSchema(name) === schema) ?? null;
  const advice = adviceFor(key.text, position.path, executor);
  if (advice !== null) return readAsAdvised(reader, context, advice);
  const keys = [...new Set([...knownKeys(schema).values()].map(({ name }) => name))];
  const near = nearNames(key.text, keys);
  const holders = near.length === 0 ? holdersOf(key.text, pair.value, schema) : [];
  report(reader, 'unknown-key', key.range, message, {
    label: holders.length === 0 ? didYouMean(near) : `belongs under ${holders.map((name) => `"${name}"`).join(' or ')}`,
    help: keysHelp(keys, position, schema),
  });
  const meant = near[0] === undefined ? undefined : knownKeys(schema).get(canonicalKey(near[0]));
  return meant === undefined || meant.name in result ? null : meant;
}

/** The keys of a map whose own maps have the wanted key for such a value; empty if more have it than help. */
function holdersOf(text: string, value: Node | null, schema: Schema): readonly string[] {
  const wanted = canonicalKey(text);
  const holders = [...knownKeys(schema).values()].filter(({ schema: own }) => {
    const inner = knownKeys(own).get(wanted);
    return inner !== undefined && isOfKind(value, inner.schema);
  });
  const names = [...new Set(holders.map(({ name }) => name))];
  return names.length <= MOST_HOLDERS ? names : [];
}

/** Whether a map, a list or a single value is what a schema asks for. */
function isOfKind(value: Node | null, schema: Schema): boolean {
  const types = typesOf(schema);
  if (types === null || value === null || value.kind === 'alias') return true;
  if (value.kind === 'map') return types.includes('object');
  return value.kind === 'list' ? types.includes('array') : types.some((type) => type !== 'object' && type !== 'array');
}

/** Reports a key of another tool, with what to write instead; a value with the same meaning is read as that. */
function readAsAdvised(
  reader: Reader,
  { key, schema, position, result }: PairContext,
  { key: meant, text, status }: Advice,
): KnownKey | null {
  const where = inWhat(position, result);
  if (status === 'foreign') {
    report(reader, 'unknown-key', key.range, `unknown key "${key.text}"${where}`, {
      label: meant === null ? '' : `use "${meant}"`,
      help: meant === null || text === '' ? text || null : `For example: ${text}`,
    });
  } else {
    const message = `"${key.text}"${where} is not supported${status === 'planned' ? ' yet' : ''}`;
    report(reader, 'not-supported', key.range, message, { label: 'not supported', help: text });
  }
  const known = meant === null ? undefined : knownKeys(schema).get(canonicalKey(meant));
  if (known !== undefined && text === '' && !(known.name in result)) return known;
  reader.damaged.add(result);
  return null;
}

/** Whether the map already has the key, in this or another spelling. If so it is reported, otherwise recorded. */
export function refuseDuplicate(reader: Reader, context: PairContext, known: KnownKey): boolean {
  const { key, seen, position, result, schema } = context;
  const isGuess = schema.properties !== undefined && knownKeys(schema).get(canonicalKey(key.text)) === undefined;
  const first = seen.get(known.name);
  if (first === undefined || isGuess) {
    if (!isGuess) seen.set(known.name, { key: key.written, range: key.range });
    return false;
  }
  const same = first.key === key.written;
  const what = same ? `duplicate key "${key.written}"` : `"${first.key}" and "${key.written}" are the same key`;
  report(reader, 'duplicate-key', key.range, `${what}${inWhat(position, result)}`, {
    label: 'the second',
    related: [{ spot: { source: reader.source, range: first.range }, message: `"${first.key}" is given here first` }],
  });
  return true;
}

/** The key of an entry as text; null, after a report, if it is missing or not allowed. */
export function keyOf(reader: Reader, pair: MapEntry): Key | null {
  const node = resolveKey(reader, pair.key);
  if (node?.kind !== 'scalar' || (node.value === null && textOf(node) === '')) {
    const message = node === null || node.kind === 'scalar' ? 'a key is missing' : 'a key must be text';
    const help = 'Put text with brackets, braces or a leading colon in quotes.';
    return report(reader, 'complex-key', rangeOf(node ?? pair.value), message, { help });
  }
  const text = textOf(node);
  const space = /^\s/.test(text) && node.isPlain ? foreignSpace(reader.source, node.start) : null;
  if (space !== null) {
    reader.problems.push(space);
    return null;
  }
  if (FORBIDDEN.has(text)) return report(reader, 'forbidden-key', rangeOf(node), `the key "${text}" is not allowed`);
  // The key may be an alias itself.
  const { aliases } = reader;
  const isAdded = aliases.depth > 0 || pair.key?.kind === 'alias';
  if (isAdded) aliases.letters += text.length;
  if (isAdded && !isWithinLimit(reader)) {
    return aliases.depth === 0 ? reportAliasBomb(reader, pair.key ?? node) : null;
  }
  return { text, written: node.written ?? text, range: rangeOf(pair.key) };
}

function resolveKey(reader: Reader, node: Node | null): Node | null {
  if (node?.kind === 'alias') return reader.anchors.get(node.name)?.node ?? node;
  if (node?.anchor !== undefined) reader.anchors.set(node.anchor, { node, open: false });
  return node;
}

/** Settings of an executor are read by the schema of its type, which may come after them. */
export function schemaFor(key: string, node: MapNode, schema: Schema): Schema {
  const isStep = schema.properties?.with !== undefined;
  const holdsSettings = canonicalKey(key) === 'config' || (isStep && canonicalKey(key) === 'with');
  if (!holdsSettings || schema.properties?.type === undefined || schema.properties.config === undefined) return schema;
  const type = node.entries.find(({ key }) => key?.kind === 'scalar' && canonicalKey(textOf(key)) === 'type')?.value;
  const name = type?.kind !== 'scalar' ? null : isStep ? executorOfType(textOf(type)) : textOf(type);
  const config = typeof name === 'string' ? executorConfigSchema(name) : null;
  return config === null ? schema : withConfig(schema, config);
}

const withConfigs = new WeakMap<Schema, WeakMap<Schema, Schema>>();

/** The map with the schema of the settings; in a step, `config` is another name of `with`. */
function withConfig(schema: Schema, config: Schema): Schema {
  const kept = withConfigs.get(schema) ?? new WeakMap<Schema, Schema>();
  withConfigs.set(schema, kept);
  const isStep = schema.properties?.with !== undefined;
  const settings = isStep ? { with: config, config: { ...config, 'x-alias-of': 'with' } } : { config };
  const made = kept.get(config) ?? { ...schema, properties: { ...schema.properties, ...settings } };
  kept.set(config, made);
  return made;
}

/** ` in step "fetch"`, ` in "retryPolicy"`; empty at the top level. */
function inWhat({ path }: Target, result: Record<string, Json>): string {
  if (path.length === 0) return '';
  const name = typeof result.name === 'string' ? result.name : result.id;
  if (path[0] === 'steps' && path.length === 2) {
    return typeof name === 'string'
      ? ` in step "${name}"`
      : ` in step ${typeof path[1] === 'number' ? path[1] + 1 : `"${path[1]}"`}`;
  }
  const key = path.findLast((step) => typeof step === 'string');
  return key === undefined ? '' : ` in "${key}"`;
}

function keysHelp(keys: readonly string[], { path }: Target, schema: Schema): string | null {
  if (keys.length === 0) return null;
  const listed = keys.slice(0, MOST_KEYS_IN_HELP).join(', ');
  // Indexes, and names if steps are a map, are not part of the path through the schema.
  const isKey = (step: string | number, index: number) =>
    typeof step === 'string' && !(index === 1 && path[0] === 'steps');
  const steps = settingPath(path, schema) ?? path.filter(isKey);
  const command = ['wf schema', steps.join('.')].join(' ').trim();
  return `Known keys here: ${listed}${keys.length > MOST_KEYS_IN_HELP ? ', ...' : ''} (${command}).`;
}

/** `executor.docker.host` for a map in the settings of an executor, whose type is not part of the path; else null. */
function settingPath(path: Path, schema: Schema): string[] | null {
  const start = path.findLastIndex((step) => step === 'config' || step === 'with') + 1;
  const below = path.slice(start).map(String);
  const inner = (at: Schema | null | undefined, key: string) => at && knownKeys(at).get(canonicalKey(key))?.schema;
  const type = executorTypes().find((name) => below.reduce(inner, executorConfigSchema(name)) === schema);
  return type === undefined ? null : ['executor', type, ...below];
}

/** Maximum number of values, and of letters in them and their keys, that aliases may add to a file. */
const MOST_VALUES = 20_000;
const MOST_LETTERS = LARGEST_FILE;

/** Counts a value added by an alias. Returns false if the limit is exceeded. */
export function admitsValue(reader: Reader, node: Node): boolean {
  reader.aliases.values++;
  if (node.kind === 'scalar') reader.aliases.letters += textOf(node).length;
  return isWithinLimit(reader);
}

/** Reports, once, that aliases exceed the limit; `node` is the alias that exceeded it. */
export function reportAliasBomb(reader: Reader, node: Node): null {
  if (isWithinLimit(reader) || reader.problems.some((found) => found.code === 'alias-limit')) return null;
  const what = reader.aliases.values > MOST_VALUES ? `${MOST_VALUES} values` : '1 MiB of text';
  return report(reader, 'alias-limit', rangeOf(node), `aliases add more than ${what} to the file`);
}

function isWithinLimit({ aliases }: Reader): boolean {
  return aliases.values <= MOST_VALUES && aliases.letters <= MOST_LETTERS;
}
