/** Maximum nesting of maps and lists. */
export const DEEPEST = 100;

/** Maximum number of tokens of a text: parsing time depends on their number more than on the length of the text. */
export const MOST_TOKENS = 800_000;
