import { jsonIn } from '../data/exact-json.ts';

/** `${NAME.key[0]["any key"]}`: a part of the JSON value of a variable. */
export type JsonPath = {
  /** The text after the name: `.key[0]`. */
  readonly path: string;
  /** Whether `:-` follows, so that a missing part is not an error. */
  readonly hasDefault: boolean;
};

/** The regular expression of a path, as text, without groups. */
export const PATH = String.raw`(?:\.[A-Za-z0-9_-]+|\[-?\d+\]|\["(?:[^"\\]|\\.)*"\])+`;

/**
 * A path to a missing part of a variable, or a variable that a nested shell cannot expand. The message is for the user and
 * contains no value.
 */
export class PathProblem extends Error {}

/**
 * The part of the JSON of a variable, else of the result of a step, at a path: a string without its quotes, a number as written, a list or map as compact
 * JSON. Undefined if the part is missing or null and there is a default; without a default, a missing part throws a
 * `PathProblem`.
 */
export function valueAt(
  name: string,
  { path, hasDefault }: JsonPath,
  scope: (name: string) => string | undefined,
): string | undefined {
  const json = scope(name) ?? scope(resultKey(name));
  const found = json === undefined ? { problem: `${name} is not defined` } : partOf(name, path, json);
  if ('value' in found) return hasDefault && found.isNull ? undefined : found.value;
  if (hasDefault) return undefined;
  throw new PathProblem(`"\${${name}${path}}": ${found.problem}`);
}

/** The name under which a scope has the result of a step as JSON. No variable has such a name. */
export function resultKey(name: string): string {
  return `${name}.`;
}

type Found = { readonly value: string; readonly isNull: boolean } | { readonly problem: string };
/** The range of a value in a JSON text. */
type Range = readonly [start: number, end: number];
type Entry = { readonly key: string | number; readonly range: Range };

const STEPS = /\.([A-Za-z0-9_-]+)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;
/** For text that is known to be JSON. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/y;
/** Maximum number of keys named in a message. */
const MOST_KEYS = 8;

/**
 * The part of a JSON text at a path, which may be empty; the path continues in a string that is JSON itself. `name` is for
 * the problem.
 */
export function partOf(name: string, path: string, text: string): Found {
  if (jsonIn(text) === undefined) return { problem: `${name} is not JSON` };
  let json = text;
  let range = rangeAt(json, 0);
  let label = name;
  for (const [step, key, index, quoted = ''] of path.matchAll(STEPS)) {
    const written = key ?? quoted.slice(1, -1).replace(/\\(.)/g, '$1');
    const wanted = index === undefined ? written : Number(index);
    for (let inner = innerJson(json, range); inner !== null; inner = innerJson(json, range)) {
      json = inner;
      range = rangeAt(json, 0);
    }
    const entries = entriesOf(json, range);
    const kind = json[range[0]];
    if (kind !== (index === undefined ? '{' : '[')) {
      return { problem: `${label} is not a ${index === undefined ? 'map' : 'list'}` };
    }
    const position = typeof wanted === 'number' && wanted < 0 ? entries.length + wanted : wanted;
    const entry = entries.findLast((candidate) => candidate.key === position);
    if (entry === undefined) return { problem: missing(label, wanted, entries) };
    range = entry.range;
    label += step;
  }
  const found = json.slice(...range);
  return { value: valueText(found), isNull: found === 'null' };
}

/** The text of a string if it is JSON; null for any other value. */
function innerJson(json: string, range: Range): string | null {
  if (json[range[0]] !== '"') return null;
  const text = JSON.parse(json.slice(...range)) as string;
  return jsonIn(text) === undefined ? null : text;
}

/** `JSON.parse` would change how a number is written: `1.0`, `1e5`, and numbers above 2^53. */
function valueText(text: string): string {
  if (text.startsWith('"')) return JSON.parse(text) as string;
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

function missing(label: string, wanted: string | number, entries: readonly Entry[]): string {
  if (typeof wanted === 'number') {
    return `${label} has no [${wanted}] (it has ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'})`;
  }
  const keys = [...new Set(entries.map(({ key }) => String(key)))];
  const shown = [...keys.slice(0, MOST_KEYS), ...(keys.length > MOST_KEYS ? ['...'] : [])].join(', ');
  return `${label} has no "${wanted}" (${keys.length === 0 ? 'it is empty' : `it has ${shown}`})`;
}

/** The entries of a list or a map; none of any other value. */
function entriesOf(json: string, [start, end]: Range): Entry[] {
  const isMap = json[start] === '{';
  const entries: Entry[] = [];
  if (!isMap && json[start] !== '[') return entries;
  let at = start + 1;
  while (at < end) {
    const [text, after] = tokenAt(json, at);
    if (text === '}' || text === ']') break;
    at = after;
    if (text === ',') continue;
    const range = rangeAt(json, isMap ? tokenAt(json, after)[1] : after - text.length);
    entries.push({ key: isMap ? (JSON.parse(text) as string) : entries.length, range });
    at = range[1];
  }
  return entries;
}

/** The range of the value that starts at or after an index. */
function rangeAt(json: string, from: number): Range {
  const [first, after] = tokenAt(json, from);
  const start = after - first.length;
  let at = after;
  for (let depth = isOpening(first) ? 1 : 0; depth > 0; ) {
    const [text, next] = tokenAt(json, at);
    if (isOpening(text)) depth++;
    if (text === '}' || text === ']') depth--;
    at = next;
  }
  return [start, at];
}

function isOpening(text: string): boolean {
  return text === '{' || text === '[';
}

function tokenAt(json: string, at: number): readonly [text: string, after: number] {
  TOKEN.lastIndex = at;
  const [, text = ''] = TOKEN.exec(json) ?? [];
  if (text === '') throw new Error('the JSON text ended unexpectedly');
  return [text, TOKEN.lastIndex];
}
