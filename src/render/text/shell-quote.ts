import { quoteWord } from '#core/words/quote-word.ts';
import { controlCharacters, harmless } from './sanitize.ts';

/**
 * Quotes a word for a POSIX shell; words that need no quotes get none. A word with control characters is written as `$'...'`,
 * which bash, zsh, ksh and POSIX.1-2024 read.
 */
export function shellQuote(word: string): string {
  if (harmless.test(word) || !controlCharacters().test(word)) return quoteWord(word);
  const quoted = word.replace(/[\\']/g, '\\$&').replace(controlCharacters(), escapeInQuotes);
  return `$'${quoted}'`;
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** Three octal digits for each byte: shells disagree on the number of hexadecimal digits. */
function escapeInQuotes(character: string): string {
  const bytes = Array.from(new TextEncoder().encode(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  return named[character] ?? bytes.join('');
}
