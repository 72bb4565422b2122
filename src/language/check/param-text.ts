import type { Source } from '../diagnostic.ts';
import { looseQuotes } from '../params.ts';
import { type Path, type Problem, problem } from '../problem.ts';

/** A text of parameters in a file; `subject` names it in messages. */
export type ParamText = {
  readonly source: Source;
  readonly path: Path;
  readonly text: string;
  readonly subject: string;
};

/**
 * Warns about quotes and commas that belong to a value, though they look as if they ended it. `isOne`: the text is a
 * single parameter.
 */
export function paramTextProblems(where: ParamText, isOne: boolean): Problem[] {
  const quotes = looseQuotes(where.text).filter(({ isFirst }) => isFirst || !isOne);
  return [...quotes.map(({ at }) => looseQuote(where, at)), ...(isOne ? [] : commaProblems(where))];
}

/** `A=1, B=2`: words are separated by blanks, so that a comma belongs to the value before it. */
function commaProblems({ source, path, text, subject }: ParamText): Problem[] {
  const [list] = /^\s*[A-Za-z_]\w*=[^\s"'`]*,\s+[A-Za-z_]\w*=/.exec(text) ?? [];
  if (list === undefined) return [];
  const spot = { source, path, part: 'value', word: { at: list.lastIndexOf(','), text: ',' } } as const;
  return [
    problem('wrong-value', spot, `${subject}: the comma is part of the value`, {
      severity: 'warning',
      help: 'Separate parameters with spaces alone.',
    }),
  ];
}

function looseQuote({ source, path, text, subject }: ParamText, at: number): Problem {
  const quote = text.charAt(at);
  const kind = quote === "'" ? 'single' : 'double';
  const name = /\S*$/.exec(text.slice(0, at))?.[0].slice(-20) ?? '';
  const place = name === '' ? `before "${text.slice(at + 1, at + 20).split(/\s/, 1)[0]}"` : `after "${name}"`;
  const next = text.indexOf(quote, at + 1);
  const isClosed = next !== -1 && /\S/.test(text.charAt(next - 1));
  const what = isClosed ? 'does not enclose the whole value' : 'is not closed';
  const spot = { source, path, part: 'value', word: { at, text: quote } } as const;
  return problem('open-quote', spot, `${subject}: the ${kind} quote ${place} ${what}, so it is part of the value`, {
    severity: 'warning',
    label: 'part of the value',
    help: isClosed ? 'End the value with the closing quote.' : 'Close it, or remove it.',
  });
}
