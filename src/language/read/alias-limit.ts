import type { Node } from 'yaml';
import { isScalar } from 'yaml';
import { LARGEST_FILE } from './decode.ts';
import type { Reader } from './reader.ts';
import { rangeOf, report } from './reader.ts';
import { textOf } from './scalar.ts';

/** The most values, and letters in them and their keys, that aliases may add to a file. */
const MOST_VALUES = 20_000;
const MOST_LETTERS = LARGEST_FILE;

/** Counts a value that an alias brings in. False when it is one too many. */
export function admitsValue(reader: Reader, node: Node): boolean {
  reader.aliases.values++;
  if (isScalar(node)) reader.aliases.letters += textOf(node).length;
  return isWithinLimit(reader);
}

/** The same for a key, which may also be an alias itself. */
export function admitsKey(reader: Reader, text: string): boolean {
  reader.aliases.letters += text.length;
  return isWithinLimit(reader);
}

/** Tells, once, that aliases added too much; `node` is the alias that did it. */
export function reportAliasBomb(reader: Reader, node: Node): void {
  if (isWithinLimit(reader) || reader.problems.some((found) => found.code === 'alias-limit')) return;
  const what = reader.aliases.values > MOST_VALUES ? `${MOST_VALUES} values` : '1 MiB of text';
  report(reader, 'alias-limit', rangeOf(node), `aliases add more than ${what} to the file`);
}

function isWithinLimit({ aliases }: Reader): boolean {
  return aliases.values <= MOST_VALUES && aliases.letters <= MOST_LETTERS;
}
