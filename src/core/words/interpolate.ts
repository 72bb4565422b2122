import { type JsonPath, PATH, PathProblem, valueAt } from './json-path.ts';
import { endOfUnit } from './shell-words.ts';

/** A part of a template: text whose variables are still to be replaced, or a command to be run. */
export type TemplatePart = { readonly text: string } | { readonly command: string };

/** Literal text or a variable; `fallback` replaces it if the variable is undefined or empty. */
type Piece = string | Variable;
type Variable = { readonly name: string; readonly path: JsonPath | null; readonly fallback: readonly Piece[] };

/** A `${NAME:-` whose `}` was not read yet. */
type OpenFallback = {
  readonly opening: string;
  readonly name: string;
  readonly path: string;
  readonly before: Piece[];
};

/**
 * Escapes (with the name after them), `${NAME}`, `${NAME.path}` or its head with `:-`, `$NAME`, a brace; then runs of
 * other text.
 */
const tokens = new RegExp(
  [
    String.raw`\\(?:\$(?=\{?([A-Za-z_]\w*)?)|\})`,
    String.raw`\$\{([A-Za-z_]\w*|[1-9]\d*)(${PATH})?(\}|:-)`,
    String.raw`\$([A-Za-z_]\w*|[1-9])|\}|[^\\$}]+|[\\$]`,
  ].join('|'),
  'g',
);

/** Deeper nested `${NAME:-` are taken literally, so that no template can exhaust the stack. */
const DEEPEST_FALLBACK = 100;

/** Whether to replace a name; `hasPath`: a path follows it. */
type IsOwn = (name: string, hasPath: boolean) => boolean;

/** Looks up a variable; undefined if it does not exist. */
type Scope = (name: string) => string | undefined;

/** A lookup of variables in a map: a name that every object has, such as `constructor`, is undefined unless it is set. */
export function lookupIn(variables: Readonly<Record<string, string>>): Scope {
  return (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
}

/**
 * Replaces the variables of a text, but not inside commands: `$NAME`, `${NAME}`, `${NAME:-default}`, `$1`, `${10}`,
 * and parts of a JSON value, `${NAME.key[0]}`. An undefined variable is empty, `\$` is a dollar (and `\}` a brace
 * within a default); quotes are ordinary characters and any other `$` stays. Every value is passed through `encode`.
 * Throws a `PathProblem`.
 */
export function expandText(template: string, scope: Scope, encode: (value: string) => string = String): string {
  return template.includes('$')
    ? expandPieces(parseTemplate(template), (piece) => variableValue(piece, scope), encode)
    : template;
}

/** The text without its variables: each is replaced by its default, or by nothing. */
export function literalText(template: string): string {
  return expandPieces(parseTemplate(template), () => undefined, String);
}

/** Replaces the variables of a text for display: a path to a missing part stays as written. */
export function previewText(template: string, scope: Scope): string {
  return expandPieces(parseTemplate(template), (piece) => previewOf(piece, scope), String);
}

/** An output whose value is not known yet is shown as `${OUT}`. */
function previewOf({ name, path }: Variable, scope: Scope): string | undefined {
  const value = scope(name);
  if (path === null) return value;
  const reference = `\${${name}${path.path}}`;
  if (value === `\${${name}}`) return reference;
  try {
    return valueAt(name, path, scope);
  } catch (error) {
    if (error instanceof PathProblem) return reference;
    throw error;
  }
}

/**
 * Replaces the variables of one word of a command given as a list: only those for which `isOwn` is true. Everything
 * else stays as written, including an escape before another dollar.
 */
export function expandOwn(word: string, scope: Scope, isOwn: IsOwn): string {
  if (!word.includes('$')) return word;
  return expandPieces(parseTemplate(word, isOwn), (piece) => variableValue(piece, scope), String);
}

/** The distinct names that a text without substitutions uses. */
export function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  collectNames(parseTemplate(text), names);
  return names;
}

/** The distinct names that a template uses, including those in defaults and in commands between backticks. */
export function references(template: string): readonly string[] {
  const names = new Set<string>();
  for (const part of splitBackticks(template)) {
    if ('text' in part) collectNames(parseTemplate(part.text), names);
    else collectShellNames(part.command, names);
  }
  return [...names];
}

/** The distinct names that the code of a shell uses. */
export function shellReferences(code: string): readonly string[] {
  const names = new Set<string>();
  collectShellNames(code, names);
  return [...names];
}

/**
 * Splits a template of `params`, `env` or a condition at its substitutions, `` `command` `` and `$(command)`. `` \` ``
 * is a backtick, `$((` starts no substitution, and an unclosed substitution leaves the rest as text. Texts keep their
 * variables and `\$`; commands are as the shell should get them.
 */
export function splitBackticks(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let text = '';
  let at = 0;
  while (at < template.length) {
    const end = substitutionEnd(template, at);
    if (end === null) break;
    if (end > at) {
      if (text !== '') parts.push({ text });
      parts.push({ command: substitutedCommand(template.slice(at, end)) });
      text = '';
      at = end;
    } else {
      const [taken, meant] = plainCharacters(template, at);
      text += meant;
      at += taken;
    }
  }
  text += template.slice(at);
  if (text !== '') parts.push({ text });
  return parts;
}

/** The index after the substitution at `at`; `at` itself if there is none, null if it is never closed. */
function substitutionEnd(template: string, at: number): number | null {
  const opens = template[at] === '`' || (template.startsWith('$(', at) && template[at + 2] !== '(');
  return opens ? endOfUnit(template, at) : at;
}

/** Between backticks, a backslash escapes only `$`, a backtick or another backslash. */
function substitutedCommand(substitution: string): string {
  if (substitution.startsWith('$(')) return substitution.slice(2, -1);
  return substitution.slice(1, -1).replace(/\\([$`\\])/g, '$1');
}

/** How many characters to take from the template, and the text that they stand for. */
function plainCharacters(template: string, at: number): readonly [number, string] {
  if (template.startsWith('\\`', at)) return [2, '`'];
  if (template.startsWith('\\$', at)) return [2, '\\$'];
  if (template.startsWith('$((', at)) return [3, '$(('];
  return [1, template.charAt(at)];
}

function parseTemplate(template: string, isOwn: IsOwn = () => true): readonly Piece[] {
  const open: OpenFallback[] = [];
  let pieces: Piece[] = [];
  for (const [token, escaped = '', braced, path = '', closing, plain] of template.matchAll(tokens)) {
    if (/^(?:\\\$|\$.)/.test(token) && !isOwn(braced ?? plain ?? escaped, path !== '')) {
      pieces.push(token);
      continue;
    }
    if (braced !== undefined && closing === ':-') {
      if (open.length === DEEPEST_FALLBACK) {
        pieces.push(token);
      } else {
        open.push({ opening: token, name: braced, path, before: pieces });
        pieces = [];
      }
      continue;
    }
    const name = braced ?? plain;
    if (name !== undefined) pieces.push({ name, path: pathOf(path, false), fallback: [] });
    else if (token !== '}' || open.length === 0) {
      const isEscape = token === '\\$' || (token === '\\}' && open.length > 0);
      pieces.push(isEscape ? token.slice(1) : token);
    } else pieces = closeFallback(open, pieces);
  }
  // What is never closed is text.
  return [...open.flatMap(({ before, opening }) => [...before, opening]), ...pieces];
}

function closeFallback(open: OpenFallback[], fallback: Piece[]): Piece[] {
  const closed = open.pop();
  if (closed === undefined) return fallback;
  closed.before.push({ name: closed.name, path: pathOf(closed.path, true), fallback });
  return closed.before;
}

function pathOf(path: string, hasDefault: boolean): JsonPath | null {
  return path === '' ? null : { path, hasDefault };
}

function variableValue({ name, path }: Variable, scope: Scope): string | undefined {
  return path === null ? scope(name) : valueAt(name, path, scope);
}

function expandPieces(
  pieces: readonly Piece[],
  value: (piece: Variable) => string | undefined,
  encode: (value: string) => string,
): string {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else text += encode(value(piece) ?? '') || expandPieces(piece.fallback, value, encode);
  }
  return text;
}

function collectNames(pieces: readonly Piece[], names: Set<string>): void {
  for (const piece of pieces) {
    if (typeof piece === 'string') continue;
    names.add(piece.name);
    collectNames(piece.fallback, names);
  }
}

/** Escapes and single quotes hide a name from the shell; double quotes hide single quotes. */
const SHELL_TOKENS = /\\[\s\S]|'[^']*'|"((?:\\[\s\S]|[^"\\])*)"|\$([A-Za-z_]\w*|[1-9])|\$\{#?([A-Za-z_]\w*|[1-9]\d*)/g;
const DOUBLE_QUOTED_TOKENS = /\\[\s\S]|\$([A-Za-z_]\w*|[1-9])|\$\{#?([A-Za-z_]\w*|[1-9]\d*)/g;

function collectShellNames(command: string, names: Set<string>): void {
  for (const [, quoted, plain, braced] of command.matchAll(SHELL_TOKENS)) {
    const name = plain ?? braced;
    if (name !== undefined) names.add(name);
    for (const [, inner, innerBraced] of (quoted ?? '').matchAll(DOUBLE_QUOTED_TOKENS)) {
      const quotedName = inner ?? innerBraced;
      if (quotedName !== undefined) names.add(quotedName);
    }
  }
}
