import { messageOf } from '#system/errors.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import { spotIn } from '../../read/spec-file.ts';
import type { ActionEntry } from '../step/action-entries.ts';

/** Whether a text is the same in every run. */
export function isConstant(text: string): boolean {
  return !/[$`]/.test(text);
}

/** A constant of a step or handler that its executor would refuse. */
export function wrongConstant(
  { file, path, what }: ActionEntry,
  key: Path,
  why: string,
  help: string | null = null,
): Problem[] {
  return [problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${why}`, { help })];
}

/** Why a text is not JSON, with its line from 1 if known: `line 2: Unexpected token '}'`. */
type JsonMistake = string;

/** The first mistake of a text that should be one JSON value; null for valid JSON. */
export function jsonMistake(text: string): JsonMistake | null {
  const error = parseError(text);
  return error === null ? null : described(error, text);
}

/** The first mistake of a text that should be a sequence of JSON values, as jq reads it. */
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
    return messageOf(error);
  }
}

/** V8's message without the text itself; `rest` is the end of `text` that was parsed. */
function described(error: string, rest: string, text = rest): JsonMistake {
  const [, reason = error, position] =
    /^(.*?)(?: in JSON)?(?: at position (\d+).*|, .* is not valid JSON)?$/s.exec(error) ?? [];
  if (position === undefined) return reason;
  const offset = text.length - rest.length + Number(position);
  return `line ${text.slice(0, offset).split('\n').length}: ${reason}`;
}
