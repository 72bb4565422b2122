import { valueAt } from '../../core/words/json-path.ts';
import type { WordPiece, WordTemplate } from '../../core/words/words.ts';
import type { Scope } from '../executor.ts';
import { quoteWord } from './quote-word.ts';

/** Words as shell code, and the assignments that have to come before it. */
export type WordsCode = { readonly words: readonly string[]; readonly before: readonly string[] };

/**
 * Words of a command as code for the shell of another machine. Variables that `scope` knows are put in as data; the others
 * are left to that shell, each staying within its word.
 */
export function wordsCode(templates: readonly WordTemplate[], scope: Scope): WordsCode {
  const before: string[] = [];
  const words = templates.map((pieces) => piecesCode(pieces, scope, before)).filter((word) => word !== '');
  return { words, before };
}

/** The empty text where nothing but empty variables is: that is no word. */
function piecesCode(pieces: readonly WordPiece[], scope: Scope, before: string[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? quoteWord(piece) : variableCode(piece, scope, before)))
    .join('');
}

function variableCode(piece: Exclude<WordPiece, string>, scope: Scope, before: string[]): string {
  const { name, path, quoted, fallback } = piece;
  const value = path === undefined ? scope(name) : (valueAt(name, path, scope) ?? '');
  if (value !== undefined && value !== '') return quoteWord(value);
  const instead = piecesCode(fallback, scope, before);
  if (value !== undefined || /^\d/.test(name)) return instead === '' && quoted ? "''" : instead;
  if (instead === '') return quoted ? `"\${${name}}"` : `\${${name}:+"\${${name}}"}`;
  const helper = `wf_word_${before.length + 1}`;
  before.push(`${helper}=\${${name}:-${instead}}`);
  return quoted ? `"$${helper}"` : `\${${helper}:+"$${helper}"}`;
}
