import { quoteWord } from '../../core/words/quote-word.ts';
import { controlCharacters, harmless } from './sanitize.ts';

/**
 * Writes a word so that a POSIX shell reads it back as it is; words that need no quotes get none. A word with characters
 * that a terminal acts on is written as `$'...'`, which bash, zsh, ksh and POSIX.1-2024 read.
 */
export function shellQuote(word: string): string {
  if (harmless.test(word) || !controlCharacters().test(word)) return quoteWord(word);
  const quoted = word.replace(/[\\']/g, '\\$&').replace(controlCharacters(), escapeInQuotes);
  return `$'${quoted}'`;
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** Three octal digits for each byte: of hexadecimal ones shells read a different number. */
function escapeInQuotes(character: string): string {
  const bytes = [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  return named[character] ?? bytes.join('');
}
