import type { Source } from '../diagnostic.ts';
import { type Problem, problem } from '../problem.ts';

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

/**
 * The problem of a line that has another space where YAML needs an ordinary one: it looks right, since most editors show
 * both alike. Null if the line at the offset has none.
 */
export function foreignSpace(source: Source, offset: number): Problem | null {
  const start = offset === 0 ? 0 : source.text.lastIndexOf('\n', offset - 1) + 1;
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
