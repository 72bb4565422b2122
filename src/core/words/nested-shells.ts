import { PATH } from './json-path.ts';
import { findLaunch, type ShellLaunch } from './shell-launch.ts';
import { scanShell } from './shell-scan.ts';
import {
  bareNames,
  closingLine,
  endOfUnit,
  type HereDocument,
  hereDocumentAt,
  isSystemVariable,
  lineEnd,
  matchAt,
  type Span,
} from './shell-words.ts';

/** A variable in the code of a nested shell (`sh -c "... $X"`) that cannot be left to that shell. */
export type NestedProblem = {
  /**
   * `position`: a positional parameter; `whole`: the whole code; `cleared`: the shell has no variables; `changed`: it has
   * another value; `unknown`: a program that may have no variables starts it; `complex`: too intricate.
   */
  readonly kind: 'position' | 'whole' | 'cleared' | 'changed' | 'unknown' | 'complex';
  /** As written. */
  readonly reference: string;
  /** The offset of the word with the code. */
  readonly at: number;
  /** The nested shell. */
  readonly shell: string;
  /** The program that clears the environment, or is unknown. */
  readonly launcher: string;
};

/** Code whose nested shells expand the variables of the workflow themselves. */
export type SealedCode = { readonly code: string; readonly problems: readonly NestedProblem[] };

type Options = {
  /** Whether a nested shell has the variable in its environment, with the same value. */
  readonly isOwn: (name: string) => boolean;
  /** Whether the workflow itself sets it. */
  readonly isDeclared?: (name: string) => boolean;
  /** The text is split into words without a shell: `\n`, `\t` and `\r` outside quotes keep their backslash. */
  readonly isSplit?: boolean;
};

type Context = Options & {
  /** Whether the surrounding code sets the variable; the nested shell may lack it. */
  readonly isLocal: (name: string) => boolean;
  /** Whether the code sets positional parameters itself. */
  readonly hasPositions: boolean;
};

/** Nesting of shells within the code of shells. */
const DEEPEST_NESTING = 20;

const nothing: readonly NestedProblem[] = [];

/** Whether the code may name a shell, its option and a variable. */
export function mayNest(code: string): boolean {
  return code.includes('$') && /sh|SHELL|BASH/.test(code) && /-[\w-]*c/.test(code);
}

/**
 * Leaves the variables in the code of nested shells to these shells: of `sh -c "echo $X"`, which would make the value
 * of `X` code, it makes `sh -c "echo \${X}"`. The inner shell finds the variable in its environment, and the value stays
 * data. In single quotes of the inner code, `'$X'` becomes `'"${X}"'`. Code without such variables is not changed.
 */
export function sealNested(code: string, options: Options): SealedCode {
  if (!mayNest(code)) return { code, problems: nothing };
  const local = bareNames(code);
  const hasPositions = SETS_POSITIONS.test(code);
  return sealCode(code, { ...options, isLocal: (name) => local.has(name), hasPositions }, 0);
}

/**
 * Finds a variable in a command list that a nested shell would lack, or that an unknown program would get as code; null if
 * there is none.
 */
export function listProblem(words: readonly string[], isOwn: (name: string) => boolean): NestedProblem | null {
  if (!mayNest(words.join(' '))) return null;
  const launch = findLaunch(words);
  if (launch === null || launch.environment === 'kept') return null;
  const isMissing = (name: string) => isOwn(name) && !launch.given.has(name);
  const missing = namesIn(words[launch.code] ?? '').find(isMissing);
  if (missing === undefined) return null;
  const shell = words[launch.shell] ?? '';
  const kind = launch.environment;
  return { kind, reference: `$${missing}`, at: 0, shell, launcher: launch.launcher };
}

/** What the problem is, in one line. */
export function nestedMessage({ kind, reference, shell, launcher }: NestedProblem): string {
  switch (kind) {
    case 'position':
      return `"${reference}" in the code of "${shell}" would become a part of that code`;
    case 'whole':
      return `the code of "${shell}" is the value of "${reference}"`;
    case 'cleared':
      return `"${reference}" in the code of "${shell}": "${launcher}" starts that shell without the variable`;
    case 'changed':
      return `"${reference}" in the code of "${shell}": the command sets the variable differently for that shell`;
    case 'unknown':
      return `the value of "${reference}" becomes code of "${shell}", which "${launcher}" starts`;
    case 'complex':
      return `"${reference}" in the code of "${shell}" cannot be left to that shell`;
  }
}

function sealCode(code: string, options: Context, depth: number): SealedCode {
  const problems: NestedProblem[] = [];
  let result = '';
  let at = 0;
  for (const words of commandsOf(code)) {
    const texts = words.map(({ start, end }) => code.slice(start, end));
    const launch = texts.some((text) => /sh|SHELL|BASH/.test(text)) ? findLaunch(texts.map(withoutQuotes)) : null;
    const shell = withoutQuotes(texts[launch?.shell ?? 0] ?? '');
    for (const [index, { start, end }] of words.entries()) {
      const raw = texts[index] ?? '';
      if (!/[$`]/.test(raw)) continue;
      const isCode = launch?.code === index;
      const sealed = isCode
        ? sealWord(raw, { launch, shell, options, depth, hasSingleQuotes: raw.includes("'") })
        : sealSubstitutions(raw, options, depth);
      problems.push(...sealed.problems.map((found) => ({ ...found, at: isCode ? start : start + found.at })));
      if (sealed.code === raw) continue;
      result += code.slice(at, start) + sealed.code;
      at = end;
    }
  }
  return { code: result + code.slice(at), problems };
}

const BLANK = /(?:[ \t\r]|\\\n)+/y;
const REDIRECTION = /\d*(?:&>>?|<<<|<>|>>|>\||[<>]&?)[ \t]*/y;

/** The words of each simple command, without redirections, comments and here-documents; up to an unclosed quote. */
export function commandsOf(code: string): readonly (readonly Span[])[] {
  const commands: Span[][] = [];
  const bodies: HereDocument[] = [];
  let words: Span[] = [];
  let isTarget = false;
  const next = () => {
    if (words.length > 0) commands.push(words);
    words = [];
    isTarget = false;
  };
  for (let at = 0; at < code.length; ) {
    const char = code.charAt(at);
    const document = char === '<' ? hereDocumentAt(code, at) : null;
    const skipped = document?.start ?? matchAt(BLANK, code, at)?.[0];
    if (document !== null) bodies.push(document);
    if (skipped !== undefined) at += skipped.length;
    else if (char === '#') at = lineEnd(code, at);
    else if (char === '\n') {
      next();
      at = bodies.splice(0).reduce((from, body) => closingLine(code, from, body)?.end ?? code.length, at + 1);
    } else if (matchAt(REDIRECTION, code, at) !== null) {
      isTarget = true;
      at = REDIRECTION.lastIndex;
    } else if (';|&()'.includes(char)) {
      next();
      at++;
    } else {
      const end = endOfWord(code, at);
      if (end === null) break;
      if (!isTarget) words.push({ start: at, end });
      isTarget = false;
      at = end;
    }
  }
  next();
  return commands;
}

function endOfWord(code: string, from: number): number | null {
  let at: number | null = from;
  while (at !== null && at < code.length && !/[ \t\r\n|&;<>()]/.test(code.charAt(at))) at = endOfUnit(code, at);
  return at;
}

/** The text of a word, with its variables as written. */
export function withoutQuotes(raw: string): string {
  if (!/['"\\]/.test(raw)) return raw;
  return raw.replace(
    /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/g,
    (_, single?: string, double?: string, char?: string) =>
      single ?? double?.replace(/\\([\\"$`])/g, '$1') ?? char ?? '',
  );
}

/** Seals the commands that a word substitutes. */
function sealSubstitutions(raw: string, options: Context, depth: number): SealedCode {
  if (!/\$\(|`/.test(raw)) return { code: raw, problems: nothing };
  const problems: NestedProblem[] = [];
  let result = '';
  let isQuoted = false;
  for (let at = 0; at < raw.length; ) {
    const char = raw.charAt(at);
    const isUnit = char === '\\' || char === '`' || raw.startsWith('$(', at) || (char === "'" && !isQuoted);
    const end = (isUnit ? endOfUnit(raw, at) : at + 1) ?? raw.length;
    if (char === '"') isQuoted = !isQuoted;
    const sealed = sealUnit(raw.slice(at, end), isQuoted, options, depth);
    problems.push(...sealed.problems.map((found) => ({ ...found, at })));
    result += sealed.code;
    at = end;
  }
  return { code: result, problems };
}

/** Seals the command of `$(...)`, or of backticks, which become `$(...)` if it changes. */
function sealUnit(unit: string, isQuoted: boolean, options: Context, depth: number): SealedCode {
  const isOld = unit.length > 1 && unit.startsWith('`');
  if (!(isOld || unit.startsWith('$(')) || depth > DEEPEST_NESTING) return { code: unit, problems: nothing };
  const content = isOld
    ? unit.slice(1, -1).replace(isQuoted ? /\\([\\$`"])/g : /\\([\\$`])/g, '$1')
    : unit.slice(2, -1);
  const sealed = sealCode(content, { ...options, isSplit: false }, depth + 1);
  return { code: sealed.code === content ? unit : `$(${sealed.code})`, problems: sealed.problems };
}

/** A part of a word: its text, or what the outer shell replaces. */
type Piece = string | { readonly raw: string; readonly isQuoted: boolean };

type Nested = {
  readonly launch: ShellLaunch;
  readonly shell: string;
  readonly options: Context;
  readonly depth: number;
  readonly hasSingleQuotes: boolean;
};

/** Seals the word that is the code of a shell. */
function sealWord(raw: string, nested: Nested): SealedCode {
  const { launch, options, depth, shell } = nested;
  const problemOf = (kind: NestedProblem['kind'], reference: string) => {
    return { kind, reference, at: 0, shell, launcher: launch.launcher };
  };
  const pieces = piecesOf(raw, options.isSplit === true);
  const units = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece]));
  const problems: NestedProblem[] = [];
  for (const unit of units) {
    const kind = kindOf(unit.raw, nested);
    const isWhole = pieces.every((piece) => piece === unit || (typeof piece === 'string' && piece.trim() === ''));
    // The output of a command as a whole, `sh -c "$(curl $URL)"`, is meant as code; the value is only data for the command.
    if (isWhole && /^(?:`|\$\()/.test(unit.raw)) continue;
    if (isWhole && (kind === 'own' || kind === 'cleared')) problems.push(problemOf('whole', unit.raw));
    else if (kind !== 'own' && kind !== 'foreign') problems.push(problemOf(kind, unit.raw));
  }
  const isHere = launch.environment === 'kept' || launch.given.size > 0;
  if (problems.length > 0 || depth >= DEEPEST_NESTING || !isHere) return { code: raw, problems };
  const inner = innerCode(pieces, nested);
  if (inner === null) return { code: raw, problems: units.slice(0, 1).map((unit) => problemOf('complex', unit.raw)) };
  const sealed = mayNest(inner.code)
    ? sealCode(inner.code, { ...options, isSplit: false }, depth + 1)
    : { ...inner, problems };
  const isSame = sealed.code === inner.code && !inner.isChanged;
  return { code: isSame ? raw : quoted(sealed.code, inner.outer, depth), problems: sealed.problems };
}

/** Within a function, and after `set --`, positional parameters are those of the code itself. */
const SETS_POSITIONS = /\b\w+[ \t]*\([ \t]*\)|\bfunction\b|\bset[ \t]+--|\bshift\b/;

const POSITIONS = /\$(?:[1-9@*]|\{[#!]?(?:[1-9@*]))/;
const PLAIN_VARIABLE = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/;
const posixVariable = new RegExp(String.raw`^\$\{#?[A-Za-z_]\w*(?:${PATH})?(?:\}|:?[-=?+]|[%#])`);

/** Whether the nested shell expands what the outer shell would (`own`), the outer one does (`foreign`), or the problem. */
function kindOf(raw: string, { launch, options, shell }: Nested): 'own' | 'foreign' | NestedProblem['kind'] {
  const { environment, given, changed } = launch;
  const isCommand = /^(?:`|\$\()/.test(raw);
  const text = isCommand ? raw.replace(/'[^']*'/g, '') : raw;
  if (POSITIONS.test(text))
    return options.hasPositions ? 'foreign' : environment === 'unknown' ? 'unknown' : 'position';
  const names = namesIn(text);
  // Without its variables a shell still has a HOME and a PATH, and theirs are no values from outside.
  const isSpared = (name: string) => environment !== 'kept' && isSystemVariable(name) && !options.isDeclared?.(name);
  const own = names.filter((name) => options.isOwn(name) && !isSpared(name));
  if (own.length === 0) return 'foreign';
  if (environment === 'unknown') return 'unknown';
  if (own.some((name) => changed.has(name))) return 'changed';
  if (environment === 'cleared' && !own.every((name) => given.has(name))) return 'cleared';
  if (PLAIN_VARIABLE.test(raw)) return 'own';
  const isMovable = names.every((name) => options.isOwn(name) || !options.isLocal(name));
  if (!isMovable || isCommand || /fish$/.test(shell)) return 'complex';
  const isKnown = posixVariable.test(raw) || /(?:ba|z|k)sh$/.test(shell);
  return isKnown && !/['"\\`(]/.test(raw) ? 'own' : 'complex';
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{?[#!]?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
}

/** Delimits the depth and number of a part that an outer shell replaces: a private character. */
const MARK = '\uE000';

type Inner = { readonly code: string; readonly outer: readonly Exclude<Piece, string>[]; readonly isChanged: boolean };

/** The code as the nested shell gets it, with marks for what the outer shell replaces; null if it cannot be determined. */
function innerCode(pieces: readonly Piece[], nested: Nested): Inner | null {
  const outer: Exclude<Piece, string>[] = [];
  const own: string[] = [];
  let isChanged = false;
  const marked = pieces.map((piece) => {
    if (typeof piece === 'string') return piece;
    if (kindOf(piece.raw, nested) === 'own') return `\${WF_OWN_.${own.push(piece.raw) - 1}}`;
    const { code } = sealUnit(piece.raw, piece.isQuoted, nested.options, nested.depth);
    isChanged ||= code !== piece.raw;
    return `${MARK}${nested.depth}.${outer.push({ ...piece, raw: code }) - 1}${MARK}`;
  });
  const text = marked.join('');
  // What an outer shell inserts would be read differently in other quotes.
  if (own.length > 0 && text.includes(MARK) && nested.depth > 0 && pieces.length > 1 && nested.hasSingleQuotes)
    return null;
  const isTaken = (piece: Piece) =>
    typeof piece === 'string' && (piece.includes('${WF_OWN_') || (nested.depth === 0 && piece.includes(MARK)));
  if (pieces.some(isTaken)) return null;
  if (own.length === 0) return { code: text, outer, isChanged };
  const isFish = /fish$/.test(nested.shell);
  const outsideQuotes = new Set(scanShell(text).paths.map(({ start }) => start));
  let isClear = true;
  const code = text.replace(/\$\{WF_OWN_\.(\d+)\}/g, (mark, index: string, start: number) => {
    const raw = own[Number(index)] ?? '';
    const name = raw.replace(PLAIN_VARIABLE, '$1$2');
    const isPlain = name !== raw;
    const variable = isPlain ? (isFish ? `$${name}` : `\${${name}}`) : raw;
    if (!outsideQuotes.has(start)) {
      // Also within a here-document that is taken literally, and there quotes are ordinary characters.
      isClear &&= !/<<-?[ \t]*['"\\]/.test(text);
      return `'"${variable}"'`;
    }
    isClear &&= !(isFish && /^\w/.test(text.slice(start + mark.length)));
    return variable;
  });
  return isClear ? { code, outer, isChanged: true } : null;
}

/** The code as one word for the outer shell. */
function quoted(code: string, outer: Inner['outer'], depth: number): string {
  const parts = code.split(new RegExp(`${MARK}${depth}\\.(\\d+)${MARK}`)).map((part, index) => {
    if (index % 2 === 0) return part.replace(/[\\"`$]/g, '\\$&');
    const { raw, isQuoted } = outer[Number(part)] ?? { raw: '', isQuoted: true };
    return isQuoted ? raw : `"${raw}"`;
  });
  return `"${parts.join('')}"`;
}

const ORDINARY = /[^\\'"$`]+/y;
const VARIABLE_START = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/y;

function piecesOf(raw: string, isSplit: boolean): readonly Piece[] {
  const pieces: Piece[] = [];
  let isQuoted = false;
  for (let at = 0; at < raw.length; ) {
    const char = raw.charAt(at);
    const found = matchAt(ORDINARY, raw, at) ?? (char === '$' ? matchAt(VARIABLE_START, raw, at) : null);
    const end = found === null ? (unitEnd(raw, at, isQuoted) ?? raw.length) : at + found[0].length;
    const unit = raw.slice(at, end);
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "'" && !isQuoted) pieces.push(unit.slice(1, -1));
    else if (char === '\\') pieces.push(escapedText(unit, isQuoted, isSplit));
    else if ((char === '$' || char === '`') && unit.length > 1) pieces.push({ raw: unit, isQuoted });
    else pieces.push(unit);
    at = end;
  }
  return pieces;
}

function unitEnd(raw: string, at: number, isQuoted: boolean): number | null {
  const char = raw.charAt(at);
  if (char === '"' || (char === "'" && isQuoted)) return at + 1;
  return endOfUnit(raw, at);
}

function escapedText(unit: string, isQuoted: boolean, isSplit: boolean): string {
  if (unit === '\\\n') return '';
  const isKept = isQuoted ? !/^\\[\\"$`]/.test(unit) : isSplit && /^\\[ntr]/.test(unit);
  return isKept ? unit : unit.slice(1);
}
