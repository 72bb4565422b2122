/** The part of the shell's grammar that is needed to find where a quoted text ends. */

/** Deeper nesting of quotes and substitutions counts as unbalanced; it does not occur in practice. */
const deepestNesting = 100;

/**
 * The index after the unit that starts at `at`: an escaped character, a quoted text, a `$(...)`, `${...}` or backtick
 * substitution, or one character. Null if the unit is never closed.
 */
export function endOfUnit(text: string, at: number, depth = 0): number | null {
  if (depth > deepestNesting) return null;
  const char = text[at];
  if (char === '\\') return at + 1 < text.length ? at + 2 : null;
  if (char === "'") return after(text.indexOf("'", at + 1));
  if (char === '"') return endOfNested(text, at + 1, { closer: '"', depth });
  if (char === '`') return endOfBackticks(text, at + 1);
  if (text.startsWith('$(', at)) return endOfNested(text, at + 2, { closer: ')', opener: '(', depth });
  if (text.startsWith('${', at)) return endOfNested(text, at + 2, { closer: '}', depth });
  return at + 1;
}

function after(index: number): number | null {
  return index < 0 ? null : index + 1;
}

function endOfBackticks(text: string, from: number): number | null {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '`') return i + 1;
    if (text[i] === '\\') i++;
  }
  return null;
}

function endOfNested(
  text: string,
  from: number,
  { closer, opener, depth }: { closer: string; opener?: string; depth: number },
): number | null {
  let open = 1;
  let at = from;
  while (at < text.length) {
    if (text[at] === closer && --open === 0) return at + 1;
    if (text[at] === opener) open++;
    // Within double quotes a single quote is an ordinary character.
    const end = closer === '"' && text[at] === "'" ? at + 1 : endOfUnit(text, at, depth + 1);
    if (end === null) return null;
    at = end;
  }
  return null;
}
