import { endOfUnit } from '../../core/words/shell-syntax.ts';
import { parseCommand } from '../../core/words/words.ts';

/**
 * A command whose shell syntax is only such as a shell would expand (`a?b=*`, `~`, `{x}`, an `&` within a word), rewritten
 * so that every such character stands for itself. Null when it has operators, substitutions or several lines: there a
 * shell was meant.
 */
export function withoutExpansions(command: string): string | null {
  const text = command.trim();
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (isExpansion(text, at)) {
      literal += `\\${text.charAt(at)}`;
      at++;
    } else {
      const end = endOfUnit(text, at);
      const unit = end === null ? null : text.slice(at, end);
      if (end === null || unit === null || /^[\n|;<>()`&]|^\$\(/.test(unit)) return null;
      literal += unit;
      at = end;
    }
  }
  return parseCommand(literal).kind === 'words' ? literal : null;
}

/** An `&` between two other characters of a word, as in a URL, ends no command that a person meant. */
function isExpansion(text: string, at: number): boolean {
  if (text[at] === '&') return /^[^\s&]&[^\s&]$/.test(text.slice(Math.max(0, at - 1), at + 2));
  return '*?[]{}~#!'.includes(text.charAt(at));
}
