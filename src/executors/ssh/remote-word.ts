/** Quotes a text as one word of POSIX shell code. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
