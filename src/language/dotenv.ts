import { matchAt } from '#core/words/shell-words.ts';
import { VARIABLE_NAME } from './raw.ts';

/** One variable of a dotenv file, and its line, from 1. */
export type DotenvEntry = { readonly name: string; readonly value: string; readonly line: number };

/** A line of a dotenv file that cannot be read. The message contains nothing of the line, which may be a secret. */
export class DotenvProblem extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const BLANK = /[ \t]*(?:#.*)?(?:\n|$)/y;
const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([^=#\n]*?)[ \t]*=[ \t]*/y;
const QUOTED = /(["'`])([\s\S]*?)\1/y;
const PLAIN = /([^#\n]*)(?:#.*)?(?:\n|$)/y;

/**
 * Reads the text of a dotenv file in the syntax of Node's `--env-file`: `NAME=value` lines, `export`, comments, values in
 * quotes, which may have several lines, and `\n` within double quotes. Variables are not replaced. Where Node ignores or
 * joins lines that are not assignments, this throws a `DotenvProblem`.
 */
export function parseDotenv(text: string): readonly DotenvEntry[] {
  const source = text.replaceAll('\r', '');
  const entries: DotenvEntry[] = [];
  for (let at = 0; at < source.length; ) {
    const skipped = matchAt(BLANK, source, at);
    if (skipped !== null) {
      at += skipped[0].length;
      continue;
    }
    const line = source.slice(0, at).split('\n').length;
    const { end, ...entry } = entryAt(source, at, line);
    entries.push({ ...entry, line });
    at = end;
  }
  return entries;
}

type Found = { readonly name: string; readonly value: string; readonly end: number };

function entryAt(source: string, at: number, line: number): Found {
  const head = matchAt(ASSIGNMENT, source, at);
  const name = head?.[1] ?? '';
  if (head === null || !VARIABLE_NAME.test(name)) throw new DotenvProblem(line, 'this line is not "NAME=value"');
  if (name.startsWith('WF_')) throw new DotenvProblem(line, `"${name}" is reserved: names with "WF_" belong to wf`);
  const { value, end } = valueAt(source, at + head[0].length, line);
  if (value.includes('\0')) throw new DotenvProblem(line, `the value of "${name}" contains the character U+0000`);
  return { name, value, end };
}

function valueAt(source: string, at: number, line: number): Omit<Found, 'name'> {
  if (!/["'`]/.test(source.charAt(at))) {
    const [all, value = ''] = matchAt(PLAIN, source, at) ?? [''];
    return { value: value.trim(), end: at + all.length };
  }
  const text = matchAt(QUOTED, source, at);
  if (text === null) throw new DotenvProblem(line, 'its quote is never closed');
  const [all, quote, value = ''] = text;
  const rest = matchAt(BLANK, source, at + all.length);
  if (rest === null) throw new DotenvProblem(line, 'there is text after its closing quote');
  const end = at + all.length + rest[0].length;
  return { value: quote === '"' ? value.replaceAll('\\n', '\n') : value, end };
}
