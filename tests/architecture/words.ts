/** One use of a phrase that the project avoids. */
export type Use = { readonly file: string; readonly line: number; readonly phrase: string };

/** Phrases as regular expressions, where a space matches any white space. `docs/contributing/words.md` has better ones. */
const avoided: readonly string[] = [
  'told',
  'nobody',
  'somebody',
  'anybody',
  'whoever',
  '(is|are|was|were) over',
  'go(es|ing)? on',
  'in a circle',
  'that is none',
  'none that',
  'so many',
  'what bites',
  'where to look further',
  'belongs? into',
  'no such thing',
  'makes? no sense',
  '(looks?|looking) only',
  'vouch(es|ed)?',
  'lies? beneath',
  'stands? (in|there|where|behind|before|beside)',
  '(try|tries|tried|trying) again',
  'tried and left',
  'why not otherwise',
  '(take|takes|taken|taking) apart',
  'anew',
  'side by side',
  'summer time',
  'for ever',
  'of ours',
  'good order',
];

const patterns = avoided.map((phrase) => new RegExp(`\\b(?:${phrase.replaceAll(' ', '\\s+')})\\b`, 'gi'));

/** Every use of an avoided phrase outside marked blocks (`<!-- words -->` to `<!-- /words -->`) and allowed phrases. */
export function usesOfAvoided(file: string, text: string, allowed: readonly string[] = []): readonly Use[] {
  const searched = [...blocksMarked(text), ...allowed].reduce((rest, part) => rest.replaceAll(part, blank(part)), text);
  return patterns
    .flatMap((pattern) => [...searched.matchAll(pattern)])
    .map(({ 0: phrase, index }) => ({ file, line: text.slice(0, index).split('\n').length, phrase }))
    .toSorted((a, b) => a.line - b.line);
}

/** Blocks with quotes of bad phrases, and blocks that are generated from the source. */
function blocksMarked(text: string): readonly string[] {
  return [...text.matchAll(/<!-- (words|settings) -->[\s\S]*?<!-- \/\1 -->/g)].map(([block]) => block);
}

/** Of the same length and lines, so that positions stay. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
