import { didYouMean, nearNames } from '#system/near-names.ts';
import { type DiagnosticCode, diagnosticCodes } from './codes.ts';
import {
  type Diagnostic,
  lineIndex,
  nearestOf,
  type Path,
  type Position,
  type Problem,
  pathMark,
  problem,
  type Source,
  type Spot,
} from './diagnostic.ts';
import { asList, type TextOrList } from './raw.ts';
import type { Range, YamlDocument } from './read/node.ts';
import { read } from './read/read.ts';
import { actionEntries, type SpecFile, spotIn } from './read/spec-file.ts';
import { workflowSchema } from './schema/schema.ts';

/** Maximum number of problems shown; the rest is only counted. */
const MOST = 100;
/** Maximum length of a text of a problem, which contains values of the file, in characters. */
const LONGEST_TEXT = 2000;
/** Maximum number of related positions of one problem. */
const MOST_RELATED = 20;

/** A problem with the index of its file and the offsets there of its value, -1 for the whole file, and of its word. */
type Placed = { readonly problem: Problem; readonly file: number; readonly offset: number; readonly word: number };

/** The data for showing problems: the files in the order of loading, the imports that led to each, and its document. */
type Loaded = {
  readonly sources: readonly Source[];
  readonly importedFrom: ReadonlyMap<Source, readonly Spot[]>;
  readonly documents: ReadonlyMap<Source, YamlDocument>;
};

/** Adds positions to problems and sorts them by file in the order of loading and by position. */
export function toDiagnostics(problems: readonly Problem[], loaded: Loaded): Diagnostic[] {
  if (problems.length === 0) return [];
  const locator = createLocator(loaded.documents);
  const order = new Map(loaded.sources.map((source, index) => [source, index]));
  const placed = problems.map((problem): Placed => {
    const file = order.get(problem.spot.source) ?? 0;
    const word = 'word' in problem.spot ? (problem.spot.word?.at ?? 0) : 0;
    return { problem, file, offset: locator.rangeOf(problem.spot)?.[0] ?? -1, word };
  });
  placed.sort((a, b) => a.file - b.file || a.offset - b.offset || a.word - b.word);
  const shown = placed.length > MOST ? keepErrors(placed) : placed;
  const diagnostics = shown.map(({ problem }) => toDiagnostic(problem, locator, loaded));
  if (shown.length === placed.length) return diagnostics;
  const kept = new Set(shown);
  return [...diagnostics, moreProblems(placed.filter((entry) => !kept.has(entry)).map(({ problem }) => problem))];
}

function toDiagnostic(problem: Problem, { positionOf }: Locator, loaded: Loaded): Diagnostic {
  const { severity, code, message, label, help, spot } = problem;
  return {
    severity,
    code,
    message: shortened(message),
    position: positionOf(spot) ?? beginning(spot.source, loaded),
    label: shortened(typeof label === 'string' ? label : label()),
    related: problem.related.slice(0, MOST_RELATED).flatMap((entry) => {
      const where = positionOf(entry.spot);
      return where === null ? [] : [{ position: where, message: shortened(entry.message) }];
    }),
    importedFrom: (loaded.importedFrom.get(spot.source) ?? []).flatMap((entry) => positionOf(entry) ?? []),
    help: help === null ? null : shortened(help),
  };
}

/** Shortens a long text to its start and its end. */
function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT / 2)} ... ${text.slice(-LONGEST_TEXT / 2)}`;
}

/** An import or the base as a whole is reported at its start, which names the file; the root has no position. */
function beginning({ path }: Source, { sources: [root] }: Loaded): Position | null {
  const start = { line: 1, column: 1 };
  return path === root?.path ? null : { file: path, start, end: start };
}

/** If not all problems can be shown, errors take precedence over warnings; the order stays. */
function keepErrors(placed: readonly Placed[]): Placed[] {
  const errors = placed.filter(({ problem }) => problem.severity === 'error').slice(0, MOST);
  const kept = new Set(errors);
  for (const entry of placed) if (kept.size < MOST) kept.add(entry);
  return placed.filter((entry) => kept.has(entry));
}

/** An error if one of them is an error. */
function moreProblems(problems: readonly Problem[]): Diagnostic {
  const count = problems.length;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const files = [...new Set(problems.map(({ spot }) => spot.source.path))];
  return {
    severity: errors > 0 ? 'error' : 'warning',
    code: 'more-problems',
    message: `${count} more ${count === 1 ? 'problem is' : 'problems are'} not shown`,
    ...{ position: null, label: '', related: [], importedFrom: [] },
    help: 'Correct the first ones, then check the file again.',
    unshown: { errors, warnings: count - errors, files },
  };
}

type Locator = ReturnType<typeof createLocator>;

/** Finds spots as offsets or positions, null for a whole file; files are read again when they have the first path. */
function createLocator(documents: ReadonlyMap<Source, YamlDocument>) {
  const indexes = new Map<Source, (start: number, end: number) => Position>();
  const positions = new Map<Source, Positions>();
  const rangeOf = (spot: Spot): Range | null => {
    if ('range' in spot) return spot.range;
    if (!('path' in spot)) return null;
    const found = positions.get(spot.source) ?? positionsOf(spot.source, documents.get(spot.source));
    positions.set(spot.source, found);
    return rangeAt(found, spot.path, spot.part);
  };
  const positionOf = (spot: Spot): Position | null => {
    const range = rangeOf(spot);
    if (range === null) return null;
    const toPosition = indexes.get(spot.source) ?? lineIndex(spot.source);
    indexes.set(spot.source, toPosition);
    if (!('path' in spot)) return toPosition(...range);
    // The word of a value or key is marked, or its first line.
    const { text } = spot.source;
    const word = spot.word === undefined ? null : wordIn(text, range, spot.word);
    return toPosition(...(word ?? [range[0], endOfFirstLine(text, range)]));
  };
  return { rangeOf, positionOf };
}

type Positions = ReadonlyMap<string, { readonly key: Range; readonly value: Range }>;

function positionsOf(source: Source, document: YamlDocument | undefined): Positions {
  const positions = new Map<string, { key: Range; value: Range }>();
  if (document === undefined) return positions;
  read(source, document, workflowSchema, (path, key, value) => positions.set(pathMark(path), { key, value }));
  return positions;
}

/** The range of a value, or of the nearest enclosing value that has one. */
function rangeAt(positions: Positions, path: Path, part: 'key' | 'value'): Range | null {
  const nearest = nearestOf(
    positions,
    pathOfDagu(path, (prefix) => positions.has(pathMark(prefix))),
  );
  return nearest?.found[nearest.isWhole ? part : 'key'] ?? null;
}

/** The mark of a map or a long text ends with its first line. */
function endOfFirstLine(text: string, [start, end]: Range): number {
  const lineEnd = text.indexOf('\n', start);
  if (lineEnd === -1 || lineEnd >= end) return end;
  return text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd;
}

/** The range of a word of a text, or of the first such word after it; null if quotes or escapes hide it. */
function wordIn(text: string, [start, rangeEnd]: Range, word: { at: number; text: string }): Range | null {
  const isQuoted = text[start] === '"' || text[start] === "'";
  const from = text[start] === '|' ? offsetInBlock(text, start, word.at) : start + word.at + (isQuoted ? 1 : 0);
  if (from === null || word.text === '') return null;
  const end = from + word.text.length;
  if (text.slice(from, end) === word.text) return [from, end];
  return text.slice(start, rangeEnd).includes('\n') ? nextWord(text, [from, rangeEnd], word.text) : null;
}

function nextWord(text: string, [from, rangeEnd]: Range, word: string): Range | null {
  for (let at = text.indexOf(word, from); at !== -1; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (end > rangeEnd) return null;
    if (!/\w/.test(`${text.charAt(at - 1)}${text.charAt(end)}`)) return [at, end];
  }
  return null;
}

/** The offset in the file of an offset in the value of a literal block (`|`), whose lines lose their indentation. */
function offsetInBlock(text: string, start: number, at: number): number | null {
  const block = /\|[-+]?\n(?: *\n)*( +)/y;
  block.lastIndex = start;
  const indent = block.exec(text)?.[1]?.length;
  if (indent === undefined) return null;
  let line = text.indexOf('\n', start) + 1;
  for (let left = at; line > 0; line = text.indexOf('\n', line) + 1) {
    const lineEnd = text.indexOf('\n', line);
    const length = Math.max(0, (lineEnd === -1 ? text.length : lineEnd) - line - indent);
    if (left <= length) return line + indent + left;
    left -= length + 1;
  }
  return null;
}

/** The keys of Dagu 2 from which `readDaguKeys` makes documented ones: only they have positions. */
const sources: readonly { readonly made: Path; readonly written: string }[] = [
  { made: ['executor', 'config'], written: 'with' },
  { made: ['executor'], written: 'type' },
  { made: ['run'], written: 'call' },
];

/** The path in the file of a value that `readDaguKeys` made; any other path as it is. */
function pathOfDagu(path: Path, isWritten: (path: Path) => boolean): Path {
  const [top, , key] = path;
  const depth = 2;
  if (top === 'secrets' && (key === 'env' || key === 'file') && !isWritten(path))
    return [...path.slice(0, depth), 'key'];
  if ((top !== 'steps' && top !== 'handlerOn') || key === undefined || isWritten(path.slice(0, depth + 1))) return path;
  const source = sources.find(({ made }) => made.every((part, at) => path[depth + at] === part));
  if (source === undefined) return path;
  return [...path.slice(0, depth), source.written, ...path.slice(depth + source.made.length)];
}

/** One `x-ignore`: its codes, and the part of the file that it is for; `isForAll`: of all files. */
type Wish = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly codes: readonly string[];
  readonly isForAll: boolean;
};

/** Codes of warnings that a strict check makes errors. */
const STRICT: ReadonlySet<DiagnosticCode> = new Set(['unordered-output']);

/** Takes out the warnings whose codes the files, the base, or the steps and handlers list under `x-ignore`. */
export function silence(files: readonly SpecFile[], base: SpecFile | null, problems: readonly Problem[]) {
  const wishes = files.flatMap((file) => wishesOf(file, file === base));
  const isIgnored = (found: Problem) =>
    (found.severity === 'warning' || STRICT.has(found.code)) && wishes.some((wish) => covers(wish, found));
  return {
    shown: [...problems.filter((found) => !isIgnored(found)), ...wishes.flatMap(unknownCodes)],
    ignored: problems.filter(isIgnored).map((found) => ({ ...found, severity: 'warning' as const })),
  };
}

function wishesOf(file: SpecFile, isBase: boolean): Wish[] {
  const wish = (path: Path, value: TextOrList | undefined) =>
    value === undefined ? [] : [{ file, path, codes: asList(value), isForAll: isBase && path.length === 0 }];
  const actions = actionEntries(file).flatMap(({ path, raw }) => wish(path, raw['x-ignore']));
  return [...wish([], file.raw['x-ignore']), ...actions];
}

function covers({ file, path, codes, isForAll }: Wish, { spot, code }: Problem): boolean {
  if (!codes.includes(code) || (spot.source !== file.source && !isForAll)) return false;
  return path.length === 0 || ('path' in spot && path.every((part, at) => spot.path[at] === part));
}

function unknownCodes({ file, path, codes }: Wish): Problem[] {
  const unknown = codes.filter((code) => !diagnosticCodes.includes(code as DiagnosticCode));
  return unknown.map((code) => {
    const label = () => didYouMean(nearNames(code, diagnosticCodes));
    const help = 'wf validate --json shows the code of each warning.';
    const spot = spotIn(file, [...path, 'x-ignore']);
    return problem('wrong-value', spot, `"${code}" is not the code of a warning`, { severity: 'warning', label, help });
  });
}
