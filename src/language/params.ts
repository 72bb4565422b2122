import { extname } from 'node:path';
import { exactJsonObject } from '#core/data/exact-json.ts';
import type { Param } from '#core/run/run.ts';
import { endOfUnit, matchAt } from '#core/words/shell-words.ts';
import type { ParamDefault } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';
import { declaredParam, isDeclaration } from './declared-params.ts';
import { fileProblem, positionsIn, type Source } from './diagnostic.ts';
import { isJsonObject, isList, type OpenTextMap, type OpenTexts, VARIABLE_NAME } from './raw.ts';
import { decode } from './read/decode.ts';
import type { Recorder } from './read/node.ts';
import { parse } from './read/parse.ts';
import { read } from './read/read.ts';

const NAMED = /^[A-Za-z_][A-Za-z0-9_]*(?==)/;

/** The parts of one value, tried at its start. `hasCommands`: `$(...)` is one unit. */
type Grammar = {
  readonly doubleQuoted: RegExp;
  readonly singleQuoted: RegExp;
  readonly bare: RegExp;
  readonly hasCommands?: true;
};

const SINGLE_QUOTED = /'([^']*)'(?=\s|$)/y;

/** Given parameters: backticks are ordinary characters. */
const GIVEN: Grammar = {
  doubleQuoted: /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"(?=\s|$)/y,
  singleQuoted: SINGLE_QUOTED,
  bare: /\S*/y,
};

/** Defaults in a file: text between backticks, or in `$(...)`, is one unit, including its spaces and quotes. */
const TEMPLATE: Grammar = {
  hasCommands: true,
  doubleQuoted: /"([^"\\`]*(?:(?:\\[\s\S]|`[^`]*`)[^"\\`]*)*)"(?=\s|$)/y,
  singleQuoted: SINGLE_QUOTED,
  bare: /(?:`[^`]*`|\S)*/y,
};

/**
 * Parses parameters in one text: `A=1 B="x y" pos`. Single or double quotes around a whole value (or a whole
 * parameter, which is then positional) keep its spaces; inside double quotes `\"` and `\\` stand for `"` and `\`.
 * Every other character is data. Values are never evaluated. A text that is one JSON object is one value.
 */
export function parseParams(text: string): Param[] {
  return jsonValue(text) ?? words(text, GIVEN);
}

/** Parses the parameters that a step gives to another workflow: as `parseParams`, with backtick substitutions in values. */
export function parseParamTemplates(text: string): Param[] {
  return jsonValue(text) ?? words(text, TEMPLATE);
}

function jsonValue(text: string): Param[] | null {
  return exactJsonObject(text) === null ? null : [{ name: null, value: text.trim() }];
}

/** The offsets of quotes at the start of values that do not enclose them. */
export function looseQuotes(text: string): { readonly at: number; readonly isFirst: boolean }[] {
  return wordsWithOffsets(text, TEMPLATE).flatMap(({ start, isQuoted }, index) =>
    !isQuoted && /["']/.test(text.charAt(start)) ? [{ at: start, isFirst: index === 0 }] : [],
  );
}

/** Parses `params` of a workflow file in any form; an entry of a map without a value is empty, and open. */
export function parseParamDefaults(params: string | OpenTexts | undefined): ParamDefault[] {
  if (params === undefined) return [];
  if (typeof params === 'string') return words(params, TEMPLATE);
  if (!isList(params)) return ofMap(params);
  return params.flatMap((entry) => {
    if (typeof entry === 'string') return [listEntry(entry)];
    return isDeclaration(entry) ? [declaredParam(entry)] : ofMap(entry);
  });
}

/** The names of the parameters that files declare. */
export function paramNames(files: readonly { readonly raw: { readonly params?: string | OpenTexts } }[]): string[] {
  return files.flatMap(({ raw }) => parseParamDefaults(raw.params)).flatMap(({ name }) => name ?? []);
}

/** Formats parameters so that `parseParams` reads them back. */
export function formatParams(params: readonly Param[]): string {
  const texts = params.map(({ name, value }) => {
    if (name !== null) return `${name}=${quoted(value)}`;
    return value === '' || NAMED.test(value) ? inQuotes(value) : quoted(value);
  });
  const text = texts.join(' ');
  // Several values that are a JSON object together.
  const isSplit = params.length > 1 && jsonValue(text) !== null;
  return isSplit ? [inQuotes(params[0]?.value ?? ''), ...texts.slice(1)].join(' ') : text;
}

/**
 * Parses a file of parameters: a map in JSON or YAML for the extensions `.json`, `.yaml` and `.yml`, otherwise lines
 * of `NAME=value`, with `#` comments and empty lines. Throws a `WfError` (`usage`) with the position for anything
 * else, and for text that is not UTF-8.
 */
export function parseParamsFile(path: string, content: Uint8Array): Param[] {
  const { source, problems } = decode(path, content);
  const isMap = ['.json', '.yaml', '.yml'].includes(extname(path).toLowerCase());
  // In a line every character is data.
  const problem = problems.find(({ code }) => isMap || code !== 'control-character');
  if (problem !== undefined) throw fileProblem(problem);
  if (isMap) return paramsOfMap(source);
  return source.text.split(/\r?\n/).flatMap((line, index) => paramLine(line, `${path}:${index + 1}`));
}

/** JSON is read as YAML: one reader, one set of limits. */
function paramsOfMap(source: Source): Param[] {
  const { document, problems } = parse(source);
  const schema = { additionalProperties: { type: 'string' } };
  const starts = new Map<string, number>();
  const record: Recorder = (path, [start]) => {
    if (path.length === 1) starts.set(String(path[0]), start);
  };
  const result = document === null ? { value: null, problems } : read(source, document, schema, record);
  const [first] = result.problems;
  if (first !== undefined) throw fileProblem(first);
  if (result.value === null) return [];
  if (!isJsonObject(result.value)) throw new WfError('usage', `${source.path}: must be a map of names and values`);
  return Object.entries(result.value).map(([name, value]) => {
    if (typeof value === 'string' && VARIABLE_NAME.test(name)) return { name, value };
    const wrong = typeof value === 'string' ? 'is not the name of a variable' : 'must be text';
    throw new WfError('usage', `${positionsIn(source)(starts.get(name) ?? 0).text}: "${name}" ${wrong}`);
  });
}

function paramLine(line: string, position: string): Param[] {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return [];
  const name = NAMED.exec(text)?.[0];
  if (name === undefined) {
    throw new WfError('usage', `${position}: the line is not "NAME=value"`, {
      help: 'comments start with #; a file with a map must end in .json, .yaml or .yml',
    });
  }
  const value = text.slice(name.length + 1);
  const [whole, ...more] = parseParams(text);
  return [whole !== undefined && more.length === 0 ? whole : { name, value }];
}

/** A parameter of a text: the offset of its value, and whether quotes enclose that. */
type Word = Param & { readonly start: number; readonly isQuoted: boolean };

function words(text: string, grammar: Grammar): Param[] {
  return wordsWithOffsets(text, grammar).map(({ name, value }) => ({ name, value }));
}

function wordsWithOffsets(text: string, grammar: Grammar): Word[] {
  const found: Word[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const name = NAMED.exec(text.slice(at, at + 1024))?.[0] ?? null;
    const start = name === null ? at : at + name.length + 1;
    const { value, end, isQuoted } = valueAt(text, start, grammar);
    found.push({ name, value, start, isQuoted });
    at = skipSpace(text, end);
  }
  return found;
}

type Value = { readonly value: string; readonly end: number; readonly isQuoted: boolean };

function valueAt(text: string, start: number, grammar: Grammar): Value {
  const command = grammar.hasCommands ? commandValue(text, start) : null;
  if (command !== null) return command;
  const double = matchAt(grammar.doubleQuoted, text, start);
  if (double !== null) {
    const value = (double[1] ?? '').replace(/\\(["\\])/g, '$1');
    return { value, end: start + double[0].length, isQuoted: true };
  }
  const single = matchAt(grammar.singleQuoted, text, start);
  if (single !== null) return { value: single[1] ?? '', end: start + single[0].length, isQuoted: true };
  const bare = matchAt(grammar.bare, text, start)?.[0] ?? '';
  return { value: bare, end: start + bare.length, isQuoted: false };
}

/** A value that contains `$(...)`; null for others, and if its quotes are not closed. */
function commandValue(text: string, start: number): Value | null {
  const isQuoted = text[start] === '"';
  if (text[start] === "'") return null;
  let hasCommand = false;
  let at = isQuoted ? start + 1 : start;
  while (at < text.length && !(isQuoted ? text[at] === '"' : /\s/.test(text.charAt(at)))) {
    const isCommand = text.startsWith('$(', at) && text[at + 2] !== '(';
    const isUnit = isCommand || text[at] === '`' || (isQuoted && text[at] === '\\');
    const end = isUnit ? endOfUnit(text, at) : at + 1;
    hasCommand ||= isCommand && end !== null;
    at = end ?? at + 1;
  }
  if (!hasCommand) return null;
  if (!isQuoted) return { value: text.slice(start, at), end: at, isQuoted };
  if (!/^"(?:\s|$)/.test(text.slice(at, at + 2))) return null;
  return { value: text.slice(start + 1, at).replace(/\\(["\\])/g, '$1'), end: at + 1, isQuoted };
}

function skipSpace(text: string, from: number): number {
  return from + (matchAt(/\s*/y, text, from)?.[0].length ?? 0);
}

/** `NAME=value`, quoted as a whole or with spaces; otherwise a positional parameter. */
function listEntry(entry: string): ParamDefault {
  const parsed = words(entry, TEMPLATE);
  if (parsed.length === 1 && parsed[0] !== undefined) return parsed[0];
  const name = NAMED.exec(entry)?.[0] ?? null;
  return { name, value: name === null ? entry : entry.slice(name.length + 1) };
}

function ofMap(map: OpenTextMap): ParamDefault[] {
  return Object.entries(map).map(([name, value]) =>
    typeof value === 'string' ? { name, value } : { name, value: '', open: true },
  );
}

function quoted(value: string): string {
  return /\s|^["']/.test(value) ? inQuotes(value) : value;
}

function inQuotes(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}
