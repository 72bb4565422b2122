/** Writes a word so that a POSIX shell reads it back as it is; a word that needs no quotes gets none. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The same for a word with what a shell is to replace, as a plan shows what is not known yet: variables (`${OUT}`) and, with
 * `runsBackticks`, commands between backticks.
 */
export function quoteTemplate(word: string, runsBackticks = false): string {
  if (runsBackticks && word.includes('`')) return `"${word.replace(/["\\]/g, '\\$&')}"`;
  if (!/\$\{[A-Za-z_]\w*[.[}]/.test(word)) return quoteWord(word);
  return `"${word.replace(/["\\`]|\$(?!\{)/g, '\\$&')}"`;
}
