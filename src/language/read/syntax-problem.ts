import type * as Yaml from 'yaml';
import type { YAMLParseError } from 'yaml';
import { type Problem, problem, type Source } from '../diagnostic.ts';

/** The package `yaml`. */
export type YamlPackage = typeof Yaml;

/** Loads the package: most texts are parsed without it. */
export function yamlPackage(): YamlPackage {
  return require('yaml') as YamlPackage;
}

/** A space that YAML takes for text, in the indentation of a line or after the `-` or `:` before a value. */
const BEFORE_TEXT = /^(?<before> *(?:- *)*(?:\w[\w.-]*:)? *)(?<space>[^\S \t\r\n])/;
/** Maximum length of a line that is searched. */
const LONGEST_LINE = 1000;

const names: { readonly [code: string]: string } = {
  '00A0': 'a no-break space',
  '202F': 'a narrow no-break space',
  '3000': 'an ideographic space',
  FEFF: 'a byte order mark',
};

/** The problem of a space that YAML takes for text, but editors show as an ordinary one; null without one. */
export function foreignSpace(source: Source, offset: number): Problem | null {
  const start = lineStart(source.text, offset);
  const { before, space } = BEFORE_TEXT.exec(source.text.slice(start, start + LONGEST_LINE))?.groups ?? {};
  if (before === undefined || space === undefined) return null;
  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const name = names[code] ?? 'a Unicode space';
  const at = start + before.length;
  const where = before.trim() === '' ? 'for indentation' : `after "${before.trimEnd().at(-1)}"`;
  const message = `${name} (U+${code}) is used ${where}, but YAML allows only ordinary spaces`;
  return problem('yaml-syntax', { source, range: [at, at + 1] }, message, {
    label: name,
    help: 'Replace it with an ordinary space.',
  });
}

/** What is wrong with a text that YAML reads in parts because it is not in quotes. */
type UnquotedText = {
  readonly at: number;
  readonly message: string;
  readonly label?: string;
  readonly help: string;
};

const PREFIX = /^[ \t]*(?:-[ ]+)*(?:[^\s:,[\]{}"']+[ \t]*:[ \t]+)?/;
const EXAMPLES: { readonly [indicator: string]: string } = {
  '*': ', such as "*/5 * * * *"',
  '!': ', such as "! test -f x"',
};
const NAMES: { readonly [indicator: string]: string } = { '*': 'an alias', '&': 'an anchor', '!': 'a tag' };

/** Explains a syntax error by an indicator before a value, or by text after a quote or bracket; null without. */
function unquotedText(text: string, offset: number): UnquotedText | null {
  const start = lineStart(text, offset);
  const lineEnd = text.indexOf('\n', offset);
  const at = start + (PREFIX.exec(text.slice(start, lineEnd === -1 ? text.length : lineEnd))?.[0].length ?? 0);
  const first = text.charAt(at);
  if (NAMES[first] !== undefined) return indicator(at, first);
  if (first === '|' || first === '>') {
    const message = `text after "${first}" must start on the next line`;
    return { at: offset, message, help: 'Start it on the next line, or put the whole text in quotes.' };
  }
  if (first === '-' && /\s/.test(text.charAt(at + 1))) {
    const help = 'Start the list on the next line, or put the text in quotes.';
    return { at, message: 'a list cannot start on the line of its key', help };
  }
  if (text.slice(offset - 1, offset + 1) === '${') {
    const message = 'text with "${" must be in quotes inside braces or brackets';
    return { at: offset, message, help: 'For example: {name: a, command: "echo ${NAME}"}.' };
  }
  const before = text.slice(start, offset).trimEnd().at(-1) ?? '';
  if (offset <= at || !`]}"'`.includes(before)) return null;
  const isQuote = before === '"' || before === "'";
  return {
    at: offset,
    message: `text follows the closing ${isQuote ? `quote ${before}` : `"${before}"`}`,
    label: 'not part of the value',
    help: isQuote
      ? 'Put the whole text in quotes of the other kind.'
      : 'Put the whole text in quotes if it is not a list or map.',
  };
}

/** Text whose first character has a meaning in YAML: `*`, `&` or `!`. */
export function indicator(at: number, character: string): Required<UnquotedText> {
  return {
    at,
    message: `text that starts with "${character}" must be in quotes`,
    label: `YAML reads this as ${NAMES[character]}`,
    help: `Put the whole text in quotes${EXAMPLES[character] ?? ''}.`,
  };
}

/** Errors within this many lines of a shown problem are dropped: one mistake often causes several. */
const ECHO_LINES = 3;
const MOST = 5;

/** By the parser's code, or a part of its message: message, help and label. The first match is used. */
const wordings: readonly (readonly [pattern: RegExp, message: string, help: string, label?: string])[] = [
  [
    /^BLOCK_AS_IMPLICIT_KEY/,
    'the ": " inside the value starts another key',
    'Put the value in quotes. If the next line is a key of its own, indent it like this one.',
    'this is read as a key within a value',
  ],
  [
    /^MULTILINE_IMPLICIT_KEY|Implicit map keys? needs? to be followed/,
    'this is neither a key nor part of the text before it',
    'Is a ":" missing, or is the line indented differently from the previous one?',
  ],
  [
    /Sequence item without/,
    'this line does not belong to a list item',
    'Indent it like the other keys of its item, or start a new item with "-".',
  ],
  [
    /All collection items must start at the same column|^BAD_INDENT/,
    'the indentation does not match',
    'Keys of one map, and items of one list, must start in the same column.',
  ],
  [
    /^BAD_DQ_ESCAPE/,
    'unknown escape sequence in double quotes',
    'Double the backslash, or use single quotes, where a backslash is only a backslash.',
  ],
  [/^BAD_SCALAR_START/, 'text cannot start with this character', 'Put the text in quotes.'],
  [/^BLOCK_IN_FLOW/, 'a block starts inside brackets', 'Close the bracket, or put the text in quotes.'],
  [/flow-(?:map|seq)-end token/, 'this bracket closes nothing', 'Remove it, or put the text in quotes.'],
];

const QUOTES = 'Put text with special characters in quotes.';

/** Converts the YAML parser's errors to messages of this program; echoes of one mistake are left out. */
export function syntaxProblems(source: Source, errors: readonly YAMLParseError[]): Problem[] {
  const sorted = [...errors].sort((a, b) => a.pos[0] - b.pos[0]);
  const shown: Problem[] = [];
  let endOfEchoes = 0;
  for (const error of sorted) {
    if (shown.length === MOST) break;
    if (error.pos[0] < endOfEchoes) continue;
    const found = syntaxProblem(source, error);
    shown.push(found);
    endOfEchoes = linesAfter(source.text, error.pos[0]);
    // Everything after an unclosed quote or bracket was read as a part of it.
    if (found.label === OPEN) break;
  }
  return shown;
}

function syntaxProblem(source: Source, error: YAMLParseError): Problem {
  const [start, end] = error.pos;
  const lineAt = lineStart(source.text, start);
  // The parser often reports only a consequence of a tab.
  if (error.code === 'TAB_AS_INDENT' || /^ *\t/.test(source.text.slice(lineAt, lineAt + 200))) {
    const tab = source.text.indexOf('\t', lineAt);
    const at = tab === -1 ? start : tab;
    const message = 'a tab is used for indentation, but YAML allows only spaces';
    const options = { label: 'a tab', help: 'Replace the tab with spaces.' };
    return problem('tab-indent', { source, range: [at, at + 1] }, message, options);
  }
  const space = foreignSpace(source, start);
  if (space !== null) return space;
  const opening = /closing|to end with|end with a/.test(error.message) ? openingBefore(source.text, start) : null;
  if (opening !== null) return openProblem(source, opening);
  if (error.code === 'TAG_RESOLVE_FAILED') {
    return problem('unknown-tag', { source, range: [start, end] }, 'the tag does not match the value');
  }
  const isLineStart = source.text.slice(lineAt, start).trim() === '';
  const code = isLineStart && error.code === 'BLOCK_AS_IMPLICIT_KEY' ? 'BAD_INDENT' : error.code;
  const wording = wordings.find(([pattern]) => pattern.test(`${code} ${error.message}`));
  const unquoted = wording === undefined ? unquotedText(source.text, start) : null;
  if (unquoted !== null) {
    const { at, message, label = '', help } = unquoted;
    const range = onOneLine(source.text, at, Math.max(at, end));
    return problem('yaml-syntax', { source, range }, message, { label, help });
  }
  const [, known, help = QUOTES, label = ''] = wording ?? [];
  const text = error.message.replace(/\s+/g, ' ').trim();
  const message = known ?? text.charAt(0).toLowerCase() + text.slice(1);
  return problem('yaml-syntax', { source, range: onOneLine(source.text, start, end) }, message, { label, help });
}

const OPEN = 'opened here';

function openProblem(source: Source, at: number): Problem {
  const character = source.text.charAt(at);
  const isQuote = character === '"' || character === "'";
  const message = isQuote ? `the quote ${character} is never closed` : `"${character}" is never closed`;
  return problem('yaml-syntax', { source, range: [at, at + 1] }, message, {
    label: OPEN,
    help: isQuote
      ? 'Close it, or put text that contains a quote in quotes of the other kind.'
      : 'Close it, or put the text in quotes.',
  });
}

/** The start of the innermost quote or bracket that is open at an offset. */
function openingBefore(text: string, offset: number): number | null {
  const open: number[] = [];
  let at = 0;
  for (const lexeme of new (yamlPackage().Lexer)().lex(text)) {
    // The lexer adds marks for documents and scalars, which are not in the text.
    if (['\x02', '\x18', '\x1f'].includes(lexeme)) continue;
    const end = at + lexeme.length;
    const isQuoted = lexeme.length > 0 && (lexeme[0] === '"' || lexeme[0] === "'");
    if (isQuoted && end >= offset) return at;
    if (end > offset) break;
    if (lexeme === '[' || lexeme === '{') open.push(at);
    else if (lexeme === ']' || lexeme === '}') open.pop();
    at = end;
  }
  return open.at(-1) ?? null;
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** The range without leading space, limited to its first line. */
function onOneLine(text: string, start: number, end: number): [number, number] {
  const line = text.slice(start, Math.max(start + 1, end)).split('\n', 1)[0] ?? '';
  const from = start + (/^ +(?=[^\s])/.exec(text.slice(start, start + 1000))?.[0].length ?? 0);
  return [from, Math.max(from + 1, start + line.trimEnd().length)];
}

/** The start of the line `ECHO_LINES` below an offset; the end of the text if there are fewer lines. */
function linesAfter(text: string, offset: number): number {
  let at = offset;
  for (let count = 0; count < ECHO_LINES; count++) {
    const end = text.indexOf('\n', at);
    if (end === -1) return text.length + 1;
    at = end + 1;
  }
  return at;
}
