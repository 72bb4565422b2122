/** A text as one word of POSIX shell code that stands for exactly this text. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
