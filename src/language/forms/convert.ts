import type { Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { parseSpan } from '#core/time-text.ts';
import type { Json } from '#core/workflow.ts';
import { type Path, pathMark, type Source } from '../diagnostic.ts';
import { asList, isJsonObject } from '../raw.ts';
import { type Range, rangeOf } from '../read/node.ts';
import { read } from '../read/read.ts';
import { readSpecFiles, type SpecFile } from '../read/spec-file.ts';
import { yamlPackage } from '../read/syntax-problem.ts';
import { workflowSchema } from '../schema/schema.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { isDagu3Mark } from './dagu-3.ts';
import { readShortSteps } from './short-steps.ts';

/** A value for the package `yaml`. */
type Written = Scalar | YAMLMap | YAMLSeq;

/** An entry on a line of its own: its offset in the source, its first node, which takes comments before it, and its value. */
type Line = { readonly start: number; readonly first: Written; value: Written };

/** The ranges of a key and its value, as offsets in the source. */
type Ranges = { readonly key: Range; readonly value: Range };

/** A document while it is written. */
type Writing = {
  readonly text: string;
  /** By `pathMark`. */
  readonly ranges: ReadonlyMap<string, Ranges>;
  /** The keys that differ from their documented spelling, by `pathMark`. */
  readonly spellings: ReadonlyMap<string, string>;
  /** The lines of all documents, in the order of writing. */
  readonly lines: Line[];
};

/**
 * The text of a valid file with the documented keys of wf, comments included; null if it has no others. The order of entries
 * is that of the source. Aliases, constants and actions of the file are replaced by what they stand for.
 */
export function convertedText(source: Source): string | null {
  const files = readSpecFiles(source).map(({ file }) => file);
  if (files.every(isOwnForm)) return null;
  const lines: Line[] = [];
  const documents = files.map((file) => {
    const { Document } = yamlPackage();
    return new Document(written(valuesOf(file), [], { text: source.text, lines, ...layoutOf(file) }));
  });
  const rest = placeComments(source.text, lines);
  const last = documents.at(-1);
  if (last !== undefined && rest !== '') last.comment = rest;
  const options = {
    lineWidth: 0,
    flowCollectionPadding: false,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  };
  return documents.map((document) => document.toString(options)).join('---\n');
}

/** Whether all keys of a file are written as documented. */
function isOwnForm({ source, document, raw, isOfDagu3 }: SpecFile): boolean {
  if (isOfDagu3) return false;
  if (document === null) return true;
  const { value, spellings } = read(source, document, workflowSchema);
  // `exec` is a `command` that can only be the words of one program.
  if ([...spellings.values()].some((key) => canonicalKey(key) !== 'exec')) return false;
  readShortSteps(value);
  return JSON.stringify(value) === JSON.stringify(raw);
}

function layoutOf({ source, document }: SpecFile): Pick<Writing, 'ranges' | 'spellings'> {
  const ranges = new Map<string, Ranges>();
  if (document === null) return { ranges, spellings: new Map() };
  const whole = rangeOf(document.contents);
  ranges.set('', { key: whole, value: whole });
  const { spellings } = read(source, document, workflowSchema, (path, key, value) => {
    ranges.set(pathMark(path), { key, value });
  });
  const steps = ranges.get('steps');
  // A `type` that is added comes before the steps, with their comments.
  if (steps !== undefined && !ranges.has('type')) ranges.set('type', { key: steps.key, value: steps.key });
  return { ranges, spellings };
}

/** The values of a file. Only in the form of Dagu 2.15 steps start at the same time without a `type` and a warning. */
function valuesOf({ raw, isOfDagu3 }: SpecFile): Json {
  const free = Object.values(raw.steps ?? []).filter((step) => asList(step?.depends).length === 0);
  const values = raw as unknown as { readonly [key: string]: Json };
  return isOfDagu3 && raw.type === undefined && free.length > 1 ? { type: 'graph', ...values } : values;
}

function written(value: Json, path: Path, writing: Writing, isFlow = false): Written {
  const { Pair, YAMLMap, YAMLSeq } = yamlPackage();
  if (typeof value !== 'object' || value === null) return scalar(value, path, writing);
  const flow = isFlow || isOnOneLine(value, path, writing);
  const add = (at: Path, part: Json, key?: Scalar): Written => {
    const start = flow ? null : startOf(at, writing);
    // An entry is listed before those within it.
    const line = start === null ? null : { start, first: key as Written, value: key as Written };
    const index = line === null ? -1 : writing.lines.push(line) - 1;
    const node = written(part, at, writing, flow);
    if (start !== null) writing.lines[index] = { start, first: key ?? node, value: node };
    return node;
  };
  if (!isJsonObject(value)) {
    const list = new YAMLSeq<Written>();
    list.flow = flow || value.length === 0;
    list.items = value.map((item: Json, index: number) => add([...path, index], item));
    return list;
  }
  const map = new YAMLMap<Scalar, Written>();
  map.flow = flow || Object.keys(value).length === 0;
  for (const name of ordered(Object.keys(value), path, writing)) {
    const key = keyOf(name, [...path, name], writing);
    map.items.push(new Pair(key, add([...path, name], value[name] ?? null, key)));
  }
  return map;
}

/** Keys that are replaced when a file is read, each with where its value is in the source. */
const MOVED: readonly (readonly [to: readonly string[], from: string])[] = [
  [['executor', 'config'], 'with'],
  [['executor'], 'type'],
  [['run'], 'call'],
  [['maxConcurrent'], 'maxActiveRuns'],
];

function rangesAt(path: Path, { ranges }: Writing): Ranges | null {
  const own = ranges.get(pathMark(path));
  if (own !== undefined) return own;
  const depth = isStep(path.slice(0, 2)) ? 2 : 0;
  for (const [to, from] of MOVED) {
    if (!to.every((name, index) => path[depth + index] === name)) continue;
    const found = ranges.get(pathMark([...path.slice(0, depth), from, ...path.slice(depth + to.length)]));
    if (found !== undefined) return found;
  }
  return null;
}

function isStep(path: Path): boolean {
  return path.length === 2 && (path[0] === 'steps' || path[0] === 'handlerOn');
}

/** The offset of an entry; null for one that the source has elsewhere, such as that of an alias. */
function startOf(path: Path, writing: Writing): number | null {
  const own = rangesAt(path, writing);
  const step = path.slice(0, 2);
  const around = rangesAt(path.length > 2 && isStep(step) ? step : [], writing);
  if (own === null || around === null) return null;
  const [start, end] = around.value;
  return own.key[0] >= start && own.key[0] <= end ? own.key[0] : null;
}

/** The keys of a map. Those of the file and of steps, whose order means nothing, are in the order of the source. */
function ordered(keys: readonly string[], path: Path, writing: Writing): readonly string[] {
  if (path.length > 0 && !isStep(path)) return keys;
  let last = 0;
  const placed = keys.map((key) => {
    last = startOf([...path, key], writing) ?? last;
    return { key, start: last };
  });
  return placed.sort((a, b) => a.start - b.start).map(({ key }) => key);
}

/** Maximum length of a list that is written on one line, unless the source has it so. */
const LONGEST_LIST = 60;

/** Whether a list or map is in brackets within a line. Short lists of texts are, if the source has none there. */
function isOnOneLine(value: object, path: Path, writing: Writing): boolean {
  const text = sourceOf(path, writing);
  if (/^[[{]/.test(text)) return !text.includes('\n');
  if (!Array.isArray(value) || text.startsWith('-')) return false;
  return value.every((item) => typeof item === 'string' && !item.includes('\n')) && value.join().length < LONGEST_LIST;
}

/** The value at a path as the source has it; empty if it is not known. */
function sourceOf(path: Path, writing: Writing): string {
  return writing.text.slice(...(rangesAt(path, writing)?.value ?? [0, 0]));
}

function keyOf(name: string, path: Path, { spellings }: Writing): Scalar {
  const { Scalar } = yamlPackage();
  const isExec = name === 'command' && canonicalKey(spellings.get(pathMark(path)) ?? '') === 'exec';
  return new Scalar(isExec ? 'exec' : name);
}

/** Characters that a block of text cannot have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const IN_QUOTES = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;

function scalar(value: string | number | boolean | null, path: Path, writing: Writing): Scalar {
  const { Scalar } = yamlPackage();
  const source = sourceOf(path, writing);
  // A length such as `2m` was read as its seconds.
  const isLength = typeof value === 'number' && parseSpan(source) === value * 1000 && Number.isNaN(Number(source));
  // A number without quotes may have been read as text.
  const isNumber = source === value && String(Number(source)) === source;
  const node = new Scalar(isLength ? source : isNumber ? Number(source) : value);
  if (typeof value !== 'string' || isNumber) return node;
  if (IN_QUOTES.test(value)) node.type = 'QUOTE_DOUBLE';
  else if (value.includes('\n')) node.type = 'BLOCK_LITERAL';
  else if (source.startsWith('"')) node.type = 'QUOTE_DOUBLE';
  else if (source.startsWith("'")) node.type = 'QUOTE_SINGLE';
  return node;
}

/** A comment with its `#`, and whether it is alone on its line. */
type Comment = { readonly start: number; readonly text: string; readonly isAlone: boolean };

/** Tokens of the package `yaml` without a text: the start of a scalar and of a document, and an error. */
const MARKS: ReadonlySet<string> = new Set(['\x1f', '\x02', '\x18']);

function commentsOf(text: string): readonly Comment[] {
  if (!text.includes('#')) return [];
  const found: Comment[] = [];
  let offset = 0;
  let before = '';
  for (const lexeme of new (yamlPackage().Lexer)().lex(text)) {
    if (before !== '\x1f' && lexeme.startsWith('#')) {
      const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
      found.push({ start: offset, text: lexeme.trimEnd(), isAlone: text.slice(lineStart, offset).trim() === '' });
    }
    if (before === '\x1f' || !MARKS.has(lexeme)) offset += lexeme.length;
    before = before === '\x1f' ? '' : lexeme;
  }
  return found.filter(({ start, text: comment }) => start > 0 || !isDagu3Mark(comment));
}

/** Adds the comments and empty lines of the source: each before the entry that it precedes. Returns those after the last. */
function placeComments(text: string, lines: readonly Line[]): string {
  const inOrder = lines
    .map((line, index) => ({ line, index }))
    .sort((a, b) => a.line.start - b.line.start || a.index - b.index);
  const sorted = inOrder.map(({ line }) => line);
  const before = new Map<Line, Comment[]>();
  const rest: Comment[] = [];
  for (const comment of commentsOf(text)) {
    const next = sorted.findIndex(({ start }) => start > comment.start);
    const own = sorted[(next === -1 ? sorted.length : next) - 1];
    if (!comment.isAlone && own !== undefined && isBeside(text, own, comment)) continue;
    const following = sorted[next];
    if (following === undefined) rest.push(comment);
    else before.set(following, [...(before.get(following) ?? []), comment]);
  }
  for (const [index, line] of sorted.entries()) {
    // The first key of a map in a list begins with it.
    if (line.start === sorted[index - 1]?.start) continue;
    const comments = before.get(line) ?? [];
    if (comments.length > 0) line.first.commentBefore = joined(text, comments, line.start);
    if (index > 0 && isAfterEmptyLine(text, comments[0]?.start ?? line.start)) line.first.spaceBefore = true;
  }
  return joined(text, rest, text.length);
}

/** Adds a comment to the entry of its line; returns false if the line has no entry. */
function isBeside(text: string, { start, value }: Line, comment: Comment): boolean {
  const isOfLine = !text.slice(start, comment.start).includes('\n');
  const isList = !yamlPackage().isScalar(value) && value.flow !== true;
  if (!isOfLine || value.comment != null || (isList && value.commentBefore != null)) return false;
  if (isList) value.commentBefore = inside(comment);
  else value.comment = inside(comment);
  return true;
}

/** A comment without its `#`, as the package takes it: a text that is empty would be an empty line. */
function inside({ text }: Comment): string {
  return text.slice(1) || ' ';
}

function joined(text: string, comments: readonly Comment[], end: number): string {
  return comments
    .map((comment, index) => {
      const next = comments[index + 1]?.start ?? end;
      const isApart = /\n[ \t]*\r?\n/.test(text.slice(comment.start, next));
      return `${inside(comment)}${isApart ? '\n' : ''}`;
    })
    .join('\n');
}

function isAfterEmptyLine(text: string, offset: number): boolean {
  return /(?:^|\n)[ \t]*\r?\n[ \t-]*$/.test(text.slice(Math.max(0, offset - 200), offset));
}
