import { endOfUnit } from './shell-syntax.ts';

/** A part of a template: ordinary text, in which variables are still to be replaced, or a command to be run. */
export type TemplatePart = { readonly text: string } | { readonly command: string };

/** Literal text or a variable; `fallback` stands in where the variable is undefined or empty. */
type Piece = string | { readonly name: string; readonly fallback: readonly Piece[] };

/** A `${NAME:-` whose `}` has not come yet. */
type OpenFallback = { readonly opening: string; readonly name: string; readonly before: Piece[] };

/** Escapes (with the name behind them), `${NAME}` or the head of `${NAME:-`, `$NAME`, a brace; then whatever is left, in runs. */
const tokens =
  /\\(?:\$(?=\{?([A-Za-z_]\w*)?)|\})|\$\{([A-Za-z_]\w*|[1-9]\d*)(\}|:-)|\$([A-Za-z_]\w*|[1-9])|\}|[^\\$}]+|[\\$]/g;

/** Further `${NAME:-` within one another are taken literally, so that no template can exhaust the stack. */
const deepestFallback = 100;

/**
 * Replaces the variables of a text outside commands: `$NAME`, `${NAME}`, `${NAME:-default}`, `$1`, `${10}`. Undefined is
 * empty, `\$` is a dollar (and `\}` a brace within a default); quotes are ordinary characters and any other `$` stays.
 */
export function expandText(template: string, scope: (name: string) => string | undefined): string {
  return template.includes('$') ? expandPieces(parseTemplate(template), scope) : template;
}

/**
 * Replaces the variables of a word of a command given as a list: only those that `isOwn` names. Everything else, an escape
 * before another dollar included, stays as it is written.
 */
export function expandOwn(
  word: string,
  scope: (name: string) => string | undefined,
  isOwn: (name: string) => boolean,
): string {
  return word.includes('$') ? expandPieces(parseTemplate(word, isOwn), scope) : word;
}

/** The names that a template uses, each once, also within defaults and within the commands between backticks. */
export function references(template: string): readonly string[] {
  const names = new Set<string>();
  for (const part of splitBackticks(template)) {
    if ('text' in part) collectNames(parseTemplate(part.text), names);
    else collectShellNames(part.command, names);
  }
  return [...names];
}

/**
 * Takes a template of `params`, `env` or a condition apart at its substitutions, `` `command` `` and `$(command)`.
 * `` \` `` is a backtick, `$((` begins no substitution, and one that is never closed leaves the rest as text. Texts keep
 * their variables and `\$`; commands are as the shell should get them.
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

/** Where the substitution at `at` ends; `at` itself when there is none, null when it is never closed. */
function substitutionEnd(template: string, at: number): number | null {
  const opens = template[at] === '`' || (template.startsWith('$(', at) && template[at + 2] !== '(');
  return opens ? endOfUnit(template, at) : at;
}

/** Between backticks a backslash is one only before `$`, a backtick or another backslash. */
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

function parseTemplate(template: string, isOwn: (name: string) => boolean = () => true): readonly Piece[] {
  const open: OpenFallback[] = [];
  let pieces: Piece[] = [];
  for (const [token, escaped = '', braced, closing, plain] of template.matchAll(tokens)) {
    if (/^(?:\\\$|\$.)/.test(token) && !isOwn(braced ?? plain ?? escaped)) {
      pieces.push(token);
      continue;
    }
    if (braced !== undefined && closing === ':-') {
      if (open.length === deepestFallback) {
        pieces.push(token);
      } else {
        open.push({ opening: token, name: braced, before: pieces });
        pieces = [];
      }
      continue;
    }
    const name = braced ?? plain;
    if (name !== undefined) pieces.push({ name, fallback: [] });
    else if (token !== '}' || open.length === 0) pieces.push(literal(token, open.length > 0));
    else pieces = closeFallback(open, pieces);
  }
  return unclosedAsText(open, pieces);
}

function literal(token: string, inFallback: boolean): string {
  return token === '\\$' || (token === '\\}' && inFallback) ? token.slice(1) : token;
}

function closeFallback(open: OpenFallback[], fallback: Piece[]): Piece[] {
  const closed = open.pop();
  if (closed === undefined) return fallback;
  closed.before.push({ name: closed.name, fallback });
  return closed.before;
}

function unclosedAsText(open: readonly OpenFallback[], last: readonly Piece[]): readonly Piece[] {
  return [...open.flatMap(({ before, opening }) => [...before, opening]), ...last];
}

function expandPieces(pieces: readonly Piece[], scope: (name: string) => string | undefined): string {
  let text = '';
  for (const piece of pieces) {
    text += typeof piece === 'string' ? piece : scope(piece.name) || expandPieces(piece.fallback, scope);
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
const shellTokens = /\\[\s\S]|'[^']*'|"((?:\\[\s\S]|[^"\\])*)"|\$([A-Za-z_]\w*|[1-9])|\$\{#?([A-Za-z_]\w*|[1-9]\d*)/g;
const doubleQuotedTokens = /\\[\s\S]|\$([A-Za-z_]\w*|[1-9])|\$\{#?([A-Za-z_]\w*|[1-9]\d*)/g;

function collectShellNames(command: string, names: Set<string>): void {
  for (const [, quoted, plain, braced] of command.matchAll(shellTokens)) {
    const name = plain ?? braced;
    if (name !== undefined) names.add(name);
    for (const [, inner, innerBraced] of (quoted ?? '').matchAll(doubleQuotedTokens)) {
      const quotedName = inner ?? innerBraced;
      if (quotedName !== undefined) names.add(quotedName);
    }
  }
}
