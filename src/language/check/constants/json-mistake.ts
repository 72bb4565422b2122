/** What is wrong with a text that should be JSON, with its line from 1 where that is known: `line 2: Unexpected token '}'`. */
export type JsonMistake = string;

/** The first mistake of a text that should be one JSON value; null for JSON. */
export function jsonMistake(text: string): JsonMistake | null {
  const error = parseError(text);
  return error === null ? null : described(error, text);
}

/** The same for any number of JSON values one after another, as jq reads them. */
export function jsonSequenceMistake(text: string): JsonMistake | null {
  let rest = text;
  while (rest.trim() !== '') {
    const error = parseError(rest);
    if (error === null) return null;
    const second = /^Unexpected non-whitespace character after JSON at position (\d+)/.exec(error)?.[1];
    if (second === undefined) return described(error, rest, text);
    rest = rest.slice(Number(second));
  }
  return null;
}

function parseError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** V8's words without the text itself; `rest` is the end of `text` that was parsed. */
function described(error: string, rest: string, text = rest): JsonMistake {
  const [, reason = error, position] =
    /^(.*?)(?: in JSON)?(?: at position (\d+).*|, .* is not valid JSON)?$/s.exec(error) ?? [];
  if (position === undefined) return reason;
  const offset = text.length - rest.length + Number(position);
  return `line ${text.slice(0, offset).split('\n').length}: ${reason}`;
}
