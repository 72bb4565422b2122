/** Quotes a word so that a POSIX shell reads it back unchanged; a word that needs no quotes gets none. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : singleQuoted(word);
}

/** Quotes a text as one word of a POSIX shell, whatever it contains. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Quotes a word that contains variables (`${OUT}`) and, with `runsBackticks`, commands between backticks, which the
 * shell is to replace: for a plan, whose values are not known yet.
 */
export function quoteTemplate(word: string, runsBackticks = false): string {
  if (runsBackticks && word.includes('`')) return `"${word.replace(/["\\]/g, '\\$&')}"`;
  if (!/\$\{[A-Za-z_]\w*[.[}]/.test(word)) return quoteWord(word);
  return `"${word.replace(/["\\`]|\$(?!\{)/g, '\\$&')}"`;
}
