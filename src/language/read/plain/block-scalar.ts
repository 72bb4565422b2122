import type { ScalarNode } from '../node.ts';
import { afterSpaces, DASH, NEWLINE, PIPE, TAB, unusual } from './characters.ts';

/** The lines of a text without their common indentation, up to the last one with content, and the offset after it. */
type Lines = { readonly lines: readonly string[]; readonly next: number };

/**
 * The text after `|` or `>`, or after `|-` or `>-`, whose lines are indented by more than `column`. The text of the file
 * ends with a line end; `length` is without one that was added.
 */
export function blockScalarAt(text: string, start: number, { column, length }: { column: number; length: number }) {
  const isLiteral = text.charCodeAt(start) === PIPE;
  const isStripped = text.charCodeAt(start + 1) === DASH;
  const headEnd = start + (isStripped ? 2 : 1);
  if (text.charCodeAt(headEnd) !== NEWLINE) throw unusual;
  const { lines, next } = linesAt(text, headEnd + 1, column);
  const content = isLiteral ? lines.join('\n') : folded(lines);
  const value = isStripped ? content : `${content}\n`;
  const place = { start, end: Math.min(next, length), anchor: undefined };
  const node: ScalarNode = { kind: 'scalar', ...place, value, text: value, isPlain: false };
  return { node, next };
}

function linesAt(text: string, from: number, column: number): Lines {
  const lines: string[] = [];
  let [count, next, indent, longestEmpty] = [0, from, 0, 0];
  for (let at = from; at < text.length; ) {
    const lineEnd = text.indexOf('\n', at);
    const start = afterSpaces(text, at);
    const width = start - at;
    if (start < lineEnd) {
      if (count === 0) indent = width;
      if (count > 0 && width < indent) {
        if (text.charCodeAt(start) === TAB) throw unusual;
        break;
      }
      if (indent <= column || (count === 0 && longestEmpty > indent)) throw unusual;
      [count, next, longestEmpty] = [lines.length + 1, lineEnd + 1, 0];
    } else longestEmpty = Math.max(longestEmpty, width);
    lines.push(count === 0 ? '' : text.slice(Math.min(at + indent, lineEnd), lineEnd));
    at = lineEnd + 1;
  }
  // Spaces at the end may be a part of the text.
  if (count === 0 || longestEmpty > indent) throw unusual;
  lines.length = count;
  return { lines, next };
}

/** Joins lines by spaces; an empty line stands for a line end. */
function folded(lines: readonly string[]): string {
  const first = lines.findIndex((line) => line !== '');
  let value = '\n'.repeat(first);
  let separator = '';
  for (const line of lines.slice(first)) {
    if (line.startsWith(' ') || line.startsWith('\t')) throw unusual;
    if (line !== '') [value, separator] = [`${value}${separator}${line}`, ' '];
    else if (separator === '\n') value += '\n';
    else separator = '\n';
  }
  return value;
}
