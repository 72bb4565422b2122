import { type ListNode, type MapEntry, type MapNode, MOST_TOKENS, type Node, type ScalarNode } from '../node.ts';
import { afterSpaces, DASH, GREATER, HASH, keyAt, NEWLINE, PIPE, SPACE, TAB, unusual, valueAt } from './inline.ts';

/** Maximum nesting of lists and maps. */
const DEEPEST_BLOCK = 50;
/** Tokens of parts of a text at most, each with the white space before it: texts have two, and a value ends its line. */
const TOKENS_OF_KEY = 4;
const TOKENS_OF_VALUE = 4;
const TOKENS_OF_DASH = 2;
const TOKENS_OF_COMMENT = 3;

/**
 * The map in a text of the form that nearly all files have, in a tenth of the time of the package `yaml`: lists and maps by
 * indentation, and keys and values on one line or after `|` or `>`. Null for any other text, valid or not: only the
 * package decides about it. The nodes, their values and offsets are those of the package.
 */
export function parsePlain(text: string): MapNode | null {
  if (text.includes('\r')) return null;
  try {
    return new PlainText(text).contents();
  } catch (error) {
    if (error === unusual) return null;
    throw error;
  }
}

class PlainText {
  /** With an end of its last line, which may be missing in the file. */
  readonly #text: string;
  /** Length of the text in the file. */
  readonly #length: number;
  /** The next content: the first character of a line or list entry, and its column; -1 at the end of the text. */
  #at = 0;
  #column = 0;
  /** The end of the last value with the white space and comments that belong to it. */
  #end = 0;
  /** The largest indentation of the comments between there and the next content; -1 if there are none. */
  #commentIndent = -1;
  #tokens = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text.endsWith('\n') ? text : `${text}\n`;
    this.#length = text.length;
  }

  contents(): MapNode {
    this.#toContent(0);
    if (this.#column === 0 && this.#text.startsWith('---', this.#at)) this.#toContent(this.#lineAfter(this.#at + 3));
    const key = this.#column === 0 ? keyAt(this.#text, this.#at) : null;
    if (key === null) throw unusual;
    const map = this.#map(key);
    if (this.#column !== -1) throw unusual;
    return map;
  }

  /** Goes to the next content. First comments that are indented by more than `tail` belong to the value before them. */
  #toContent(line: number, tail = Number.POSITIVE_INFINITY): void {
    this.#commentIndent = -1;
    let start = line;
    let at = afterSpaces(this.#text, start);
    for (let code = this.#text.charCodeAt(at); code === NEWLINE || code === HASH; code = this.#text.charCodeAt(at)) {
      const next = this.#text.indexOf('\n', at) + 1;
      const indent = at - start;
      const isOfValue = indent > tail && this.#commentIndent === -1;
      if (code === HASH && isOfValue) this.#end = Math.min(next, this.#length);
      else if (code === HASH) this.#commentIndent = Math.max(this.#commentIndent, indent);
      this.#count(TOKENS_OF_COMMENT);
      start = next;
      at = afterSpaces(this.#text, start);
    }
    this.#column = at < this.#text.length ? at - start : -1;
    this.#at = at;
  }

  #count(tokens: number): void {
    this.#tokens += tokens;
    if (this.#tokens > MOST_TOKENS) throw unusual;
  }

  /** The start of the next line, if nothing but a comment is left of this one. */
  #lineAfter(from: number): number {
    const at = afterSpaces(this.#text, from);
    const code = this.#text.charCodeAt(at);
    if (code !== NEWLINE && (code !== HASH || at === from)) throw unusual;
    if (code === HASH) this.#count(TOKENS_OF_COMMENT);
    return this.#text.indexOf('\n', at) + 1;
  }

  #isEntry(): boolean {
    const next = this.#text.charCodeAt(this.#at + 1);
    return this.#text.charCodeAt(this.#at) === DASH && (next === SPACE || next === NEWLINE);
  }

  #map(first: ScalarNode): MapNode {
    const [start, column] = [this.#at, this.#column];
    const entries: MapEntry[] = [];
    this.#enter();
    for (let key: ScalarNode | null = first; key !== null; ) {
      entries.push({ key, value: this.#value(key.end + 1, column, true) });
      key = this.#column === column ? keyAt(this.#text, this.#at) : null;
      if (key === null && this.#column === column) throw unusual;
    }
    return { kind: 'map', start, end: this.#leave(column), anchor: undefined, entries };
  }

  #list(): ListNode {
    const [start, column] = [this.#at, this.#column];
    const items: Node[] = [];
    this.#enter();
    while (this.#column === column && this.#isEntry()) items.push(this.#item(column));
    return { kind: 'list', start, end: this.#leave(column), anchor: undefined, items };
  }

  #enter(): void {
    if (++this.#depth > DEEPEST_BLOCK) throw unusual;
  }

  /** The end of a list or map at a column; its last comments are only before the end of what is around it. */
  #leave(column: number): number {
    if (this.#column > column) throw unusual;
    this.#depth--;
    const end = this.#end;
    if (column > 0 && this.#commentIndent >= column) {
      this.#end = Math.min(this.#at, this.#length);
      this.#commentIndent = -1;
    }
    return end;
  }

  #item(column: number): Node {
    this.#count(TOKENS_OF_DASH);
    const at = afterSpaces(this.#text, this.#at + 1);
    const key = keyAt(this.#text, at);
    if (key === null) return this.#value(this.#at + 1, column, false);
    this.#column += at - this.#at;
    this.#at = at;
    return this.#map(key);
  }

  /** The value after a key or `-` of a list or map at a column. */
  #value(from: number, column: number, isOfKey: boolean): Node {
    this.#count(TOKENS_OF_VALUE + (isOfKey ? TOKENS_OF_KEY : 0));
    const at = afterSpaces(this.#text, from);
    const first = this.#text.charCodeAt(at);
    if (first === NEWLINE || first === HASH) return this.#below(at, column, isOfKey);
    if (first === PIPE || first === GREATER) {
      const { node, next } = blockScalarAt(this.#text, at, column, this.#length);
      this.#end = node.end;
      this.#toContent(next);
      return node;
    }
    const value = valueAt(this.#text, at);
    // Elements in brackets have at most three tokens for two characters.
    if (value.kind !== 'scalar') this.#count(2 * (value.end - at));
    const next = this.#lineAfter(value.end);
    this.#end = Math.min(next, this.#length);
    this.#toContent(next, column);
    return value;
  }

  /** A list or map on the lines below; nothing if these belong to the lists and maps around it. */
  #below(at: number, column: number, isOfKey: boolean): Node {
    this.#toContent(this.#text.indexOf('\n', at) + 1);
    const isBelow = this.#column > column || (isOfKey && this.#column === column && this.#isEntry());
    if (isBelow) {
      if (this.#isEntry()) return this.#list();
      const key = keyAt(this.#text, this.#at);
      if (key === null) throw unusual;
      return this.#map(key);
    }
    const hasComment = this.#text.charCodeAt(at) === HASH || this.#commentIndent !== -1;
    if (!isOfKey || hasComment) throw unusual;
    this.#end = at;
    return { kind: 'scalar', start: at, end: at, anchor: undefined, value: null, text: '', isPlain: true };
  }
}

/** The text after `|`, `>`, `|-` or `>-`, indented by more than `column`; `length`: without an added line end. */
function blockScalarAt(text: string, start: number, column: number, length: number) {
  const isLiteral = text.charCodeAt(start) === PIPE;
  const isStripped = text.charCodeAt(start + 1) === DASH;
  const headEnd = start + (isStripped ? 2 : 1);
  if (text.charCodeAt(headEnd) !== NEWLINE) throw unusual;
  const { lines, next } = linesAt(text, headEnd + 1, column);
  const content = isLiteral ? lines.join('\n') : folded(lines);
  const value = isStripped ? content : `${content}\n`;
  const range = { start, end: Math.min(next, length), anchor: undefined };
  const node: ScalarNode = { kind: 'scalar', ...range, value, text: value, isPlain: false };
  return { node, next };
}

/** The lines of a text without their common indentation, up to the last one with content, and the offset after it. */
function linesAt(text: string, from: number, column: number) {
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
