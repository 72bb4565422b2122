import { LARGEST_FILE } from './decode.ts';
import { type Node, textOf } from './node.ts';
import type { Reader } from './reader.ts';
import { rangeOf, report } from './reader.ts';

/** Maximum number of values, and of letters in them and their keys, that aliases may add to a file. */
const MOST_VALUES = 20_000;
const MOST_LETTERS = LARGEST_FILE;

/** Counts a value added by an alias. Returns false if the limit is exceeded. */
export function admitsValue(reader: Reader, node: Node): boolean {
  reader.aliases.values++;
  if (node.kind === 'scalar') reader.aliases.letters += textOf(node).length;
  return isWithinLimit(reader);
}

/** Counts a key added by an alias; the key may also be an alias itself. */
export function admitsKey(reader: Reader, text: string): boolean {
  reader.aliases.letters += text.length;
  return isWithinLimit(reader);
}

/** Reports, once, that aliases exceed the limit; `node` is the alias that exceeded it. */
export function reportAliasBomb(reader: Reader, node: Node): void {
  if (isWithinLimit(reader) || reader.problems.some((found) => found.code === 'alias-limit')) return;
  const what = reader.aliases.values > MOST_VALUES ? `${MOST_VALUES} values` : '1 MiB of text';
  report(reader, 'alias-limit', rangeOf(node), `aliases add more than ${what} to the file`);
}

function isWithinLimit({ aliases }: Reader): boolean {
  return aliases.values <= MOST_VALUES && aliases.letters <= MOST_LETTERS;
}
