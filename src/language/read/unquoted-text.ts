/** What is wrong with a text that YAML reads in parts because it is not in quotes. */
export type UnquotedText = {
  readonly at: number;
  readonly message: string;
  readonly label: string;
  readonly help: string;
};

const PREFIX = /^[ \t]*(?:-[ ]+)*(?:[^\s:,[\]{}"']+[ \t]*:[ \t]+)?/;
const EXAMPLES: { readonly [indicator: string]: string } = {
  '*': ', such as "*/5 * * * *"',
  '!': ', such as "! test -f x"',
};
const NAMES: { readonly [indicator: string]: string } = { '*': 'an alias', '&': 'an anchor', '!': 'a tag' };

/**
 * Explains a syntax error at an offset by the value on its line: text that starts with an indicator of YAML, or that
 * continues after a quote or bracket. Null if neither is the cause.
 */
export function unquotedText(text: string, offset: number): UnquotedText | null {
  const lineStart = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  const line = text.slice(lineStart, endOfLine(text, offset));
  const at = lineStart + (PREFIX.exec(line)?.[0].length ?? 0);
  const first = text.charAt(at);
  if (NAMES[first] !== undefined) return indicator(at, first);
  if (first === '|' || first === '>') return afterBlockIndicator(offset, first);
  if (first === '-' && /\s/.test(text.charAt(at + 1))) return listOnLine(at);
  if (text.charAt(offset - 1) === '$' && text.charAt(offset) === '{') return braceInside(offset);
  const before = text.slice(lineStart, offset).trimEnd().at(-1) ?? '';
  if (offset > at && `]}"'`.includes(before)) return afterClosing(offset, before);
  return null;
}

/** Text whose first character has a meaning in YAML: `*`, `&` or `!`. */
export function indicator(at: number, character: string): UnquotedText {
  return {
    at,
    message: `text that starts with "${character}" must be in quotes`,
    label: `YAML reads this as ${NAMES[character]}`,
    help: `Put the whole text in quotes${EXAMPLES[character] ?? ''}.`,
  };
}

function afterBlockIndicator(at: number, character: string): UnquotedText {
  return {
    at,
    message: `text after "${character}" must start on the next line`,
    label: '',
    help: 'Start it on the next line, or put the whole text in quotes.',
  };
}

function listOnLine(at: number): UnquotedText {
  return {
    at,
    message: 'a list cannot start on the line of its key',
    label: '',
    help: 'Start the list on the next line, or put the text in quotes.',
  };
}

function braceInside(at: number): UnquotedText {
  return {
    at,
    message: 'text with "${" must be in quotes inside braces or brackets',
    label: '',
    help: 'For example: {name: a, command: "echo ${NAME}"}.',
  };
}

function afterClosing(at: number, character: string): UnquotedText {
  const isQuote = character === '"' || character === "'";
  return {
    at,
    message: `text follows the closing ${isQuote ? `quote ${character}` : `"${character}"`}`,
    label: 'not part of the value',
    help: isQuote
      ? 'Put the whole text in quotes of the other kind.'
      : 'Put the whole text in quotes if it is not a list or map.',
  };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
