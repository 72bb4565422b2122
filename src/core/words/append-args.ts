import { endOfUnit } from './shell-syntax.ts';
import { isReservedWord } from './shell-words.ts';

/** State of the last simple command of a text: nothing yet, program named, or closed by a bracket. */
type Ending = 'nothing' | 'named' | 'closed';

const blanks = /[ \t]+/y;
const separators = /[|&;\n]+|\(/y;
const redirection = /\d*(?:>>|>\||<>|[<>]&|[<>])[ \t]*/y;
const assignment = /[A-Za-z_]\w*\+?=/y;

/**
 * Appends words, given as shell code, as further arguments of the last command of a shell code text. Returns null
 * unless the command is certain to receive them: `cd x && make` does; after `sleep 9 &`, a comment, `fi` or an
 * unbalanced quote they would be lost or taken for a command.
 */
export function appendArgs(shellCode: string, args: readonly string[]): string | null {
  const text = withoutTrailingSpace(shellCode);
  return endOfLastCommand(withoutContinuations(text)) === 'named' ? [text, ...args].join(' ') : null;
}

function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/**
 * A shell joins continued lines before it splits words. It does not inside single quotes, but no word ends there
 * either.
 */
function withoutContinuations(text: string): string {
  return text.replace(/\\./gs, (pair) => (pair === '\\\n' ? '' : pair));
}

/** Null: cannot be determined. */
function endOfLastCommand(text: string): Ending | null {
  let ending: Ending = 'nothing';
  for (let at = 0; at < text.length; ) {
    const skipped = lengthOf(blanks, text, at) || lengthOf(separators, text, at);
    if (skipped > 0) {
      if (!' \t'.includes(text.charAt(at))) ending = 'nothing';
      at += skipped;
    } else if (text[at] === ')') {
      ending = 'closed';
      at++;
    } else {
      const redirected = lengthOf(redirection, text, at);
      const end = endOfWord(text, at + redirected);
      if (end === null || ending === 'closed') return null;
      const isNext = ending === 'nothing' && redirected === 0 && lengthOf(assignment, text, at) === 0;
      if (isNext && !canNameProgram(text.slice(at, end))) return null;
      if (isNext) ending = 'named';
      at = end;
    }
  }
  return ending;
}

/**
 * A comment or a construct takes no arguments; and if a word can be empty, the first argument would become the
 * program.
 */
function canNameProgram(word: string): boolean {
  return !isReservedWord(word) && /^[^#$`]/.test(word);
}

/** Null if there is no word, it never ends, or a here-document starts. */
function endOfWord(text: string, from: number): number | null {
  let at = from;
  while (at < text.length && !/[ \t\n|&;<>()]/.test(text.charAt(at))) {
    if (text[at] === '#' && at === from) return null;
    const end = endOfUnit(text, at);
    if (end === null) return null;
    at = end;
  }
  return at === from ? null : at;
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
