/** Quotes a word so that a POSIX shell reads it back unchanged; a word that needs no quotes gets none. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : singleQuoted(word);
}

/** Quotes a text as one word of a POSIX shell, whatever it contains. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
