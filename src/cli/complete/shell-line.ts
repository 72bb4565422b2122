/**
 * The words of a command line that is being typed, up to the cursor, as a POSIX shell takes its quotes. The last word is the
 * one at the cursor, empty behind a space; a quote in it may still be open.
 */
export function wordsOfLine(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= '';
    if (character === '\\' && quote !== "'") {
      at += 1;
      word += unescaped(line[at] ?? '', quote);
    } else if (character === quote) quote = null;
    else if (quote === null && (character === '"' || character === "'")) quote = character;
    else word += character;
  }
  return [...words, word ?? ''];
}

/** In double quotes a backslash stands for itself before most characters. */
function unescaped(character: string, quote: '"' | "'" | null): string {
  return quote === null || '"\\$`'.includes(character) ? character : `\\${character}`;
}
