import { Pair, type ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';

/** Offsets in the text: start, end, and end of the line. */
type Range = [number, number, number];

/** Thrown at everything that is left to the complete parser. Without a stack, which would take longer than that parser. */
class Unusual {}
const unusual = new Unusual();

/** Characters with a meaning in YAML that is left to the complete parser, and marks of documents and directives. */
const SPECIAL = /[\t\r\u0085\u2028\u2029\ufeff]|^(?:---|\.\.\.|%)/m;
/** Lines without content. */
const EMPTY = /(?: *(?:#[^\n]*)?\n)*/y;
const SPACES = / */y;
const KEY = /([A-Za-z_][\w-]*):(?=[ \n])/y;
const QUOTED = /"([^"\\\n]*)"|'([^'\n]*)'(?!')/y;
const ITEM = /[A-Za-z_][\w.-]*(?: +[\w.-]+)*/y;
/** The rest of a line after a value. */
const REST = / *(?: #[^\n]*)?\n/y;
/** Characters that begin something other than a plain text. */
const INDICATORS = '-?:,[]{}#&*!|>\'"%@`';
/** Words that are no text. */
const WORD = /^(?:~|null|true|false)$/i;
/** Texts that may have more tokens or levels are left to the complete parser, which has limits. */
const MOST_TOKENS = 700_000;
const DEEPEST = 50;
/** Tokens of a value with its key, indicators and white space, at most. */
const TOKENS_OF_VALUE = 8;

/**
 * The contents of a document in the form that most files have, in a tenth of the time of the package `yaml`: lists and maps
 * by indentation, simple keys, and values on one line or after `|`. Null for any other text, whether valid or not: only
 * the complete parser decides about it. The nodes have the values, types and ranges of that parser; only a map or list over
 * several lines may end at an earlier comment or empty line.
 */
export function parsePlain(text: string): ParsedNode | null {
  if (SPECIAL.test(text)) return null;
  try {
    return new PlainText(text).contents() as unknown as ParsedNode;
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
  /** The first character of the current line or list entry, and its column; -1 at the end of the text. */
  #at = 0;
  #column = 0;
  /** End of the last line that has content. */
  #end = 0;
  #tokens = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text.endsWith('\n') ? text : `${text}\n`;
    this.#length = text.length;
  }

  contents(): YAMLMap {
    this.#toLine(0);
    const isAtMargin = this.#column === 0;
    const map = this.#map();
    if (!isAtMargin || this.#at < this.#text.length) throw unusual;
    return map;
  }

  /** Goes to the first line with content from the start of a line on. */
  #toLine(from: number): void {
    const begin = this.#after(EMPTY, from);
    this.#at = this.#after(SPACES, begin);
    this.#column = begin === this.#text.length ? -1 : this.#at - begin;
    this.#count(2 * (begin - from));
  }

  #count(tokens: number): void {
    this.#tokens += tokens;
    if (this.#tokens > MOST_TOKENS) throw unusual;
  }

  /** The offset after a pattern, which matches here. */
  #after(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    if (!pattern.test(this.#text)) throw unusual;
    return pattern.lastIndex;
  }

  #block(): YAMLMap | YAMLSeq {
    if (++this.#depth > DEEPEST) throw unusual;
    const node = this.#isEntry() ? this.#list() : this.#map();
    this.#depth--;
    return node;
  }

  #isEntry(): boolean {
    return this.#text[this.#at] === '-' && /[ \n]/.test(this.#text[this.#at + 1] ?? '');
  }

  #map(): YAMLMap {
    const [begin, column] = [this.#at, this.#column];
    const map = new YAMLMap();
    do {
      KEY.lastIndex = this.#at;
      const key = KEY.exec(this.#text)?.[1];
      if (key === undefined || WORD.test(key)) throw unusual;
      const at = this.#at;
      map.items.push(
        new Pair(
          this.#scalar(key, 'PLAIN', [at, at + key.length, at + key.length]),
          this.#value(KEY.lastIndex, column, true),
        ),
      );
    } while (this.#column === column);
    if (this.#column > column) throw unusual;
    map.range = [begin, this.#end, this.#end];
    return map;
  }

  #list(): YAMLSeq {
    const [begin, column] = [this.#at, this.#column];
    const list = new YAMLSeq();
    do {
      if (!this.#isEntry()) break;
      const at = this.#after(SPACES, this.#at + 1);
      KEY.lastIndex = at;
      if (KEY.test(this.#text)) {
        this.#column += at - this.#at;
        this.#at = at;
        list.items.push(this.#block());
      } else list.items.push(this.#value(at, column, false));
    } while (this.#column === column);
    if (this.#column > column) throw unusual;
    list.range = [begin, this.#end, this.#end];
    return list;
  }

  /** The value after a key or `-` at a column. A list may begin at the column of its key. */
  #value(from: number, column: number, isOfKey: boolean): Scalar | YAMLMap | YAMLSeq {
    const at = this.#after(SPACES, from);
    const first = this.#text[at] ?? '';
    if (first === '\n' || first === '#') {
      this.#toLine(this.#after(REST, from));
      if (this.#column > column || (isOfKey && this.#column === column && this.#isEntry())) return this.#block();
      throw unusual;
    }
    if (first === '|') return this.#literal(at, column);
    const value = first === '[' ? this.#flow(at) : first === '"' || first === "'" ? this.#quoted(at) : this.#plain(at);
    const next = this.#after(REST, value.range?.[1] ?? at);
    this.#end = Math.min(next, this.#length);
    this.#toLine(next);
    return value;
  }

  #plain(at: number): Scalar {
    const line = this.#text.slice(at, this.#text.indexOf('\n', at));
    const comment = line.indexOf(' #');
    let length = comment === -1 ? line.length : comment;
    while (line[length - 1] === ' ') length--;
    const [source, end] = [line.slice(0, length), at + length];
    if (INDICATORS.includes(source[0] ?? ' ') || source.includes(': ') || source.endsWith(':')) throw unusual;
    return this.#scalar(plainValue(source), 'PLAIN', [at, end, end], source);
  }

  #quoted(at: number): Scalar {
    QUOTED.lastIndex = at;
    const found = QUOTED.exec(this.#text);
    if (found === null) throw unusual;
    const [all, double, single = ''] = found;
    const end = at + all.length;
    return this.#scalar(double ?? single, double === undefined ? 'QUOTE_SINGLE' : 'QUOTE_DOUBLE', [at, end, end]);
  }

  /** `[a, "b"]` */
  #flow(begin: number): YAMLSeq {
    const list = new YAMLSeq();
    list.flow = true;
    let at = this.#after(SPACES, begin + 1);
    while (this.#text[at] !== ']' || list.items.length > 0) {
      const isQuoted = this.#text[at] === '"' || this.#text[at] === "'";
      const item = isQuoted ? this.#quoted(at) : this.#item(at);
      list.items.push(item);
      at = this.#after(SPACES, item.range?.[1] ?? at);
      if (this.#text[at] === ']') break;
      if (this.#text[at] !== ',') throw unusual;
      at = this.#after(SPACES, at + 1);
    }
    list.range = [begin, at + 1, at + 1];
    return list;
  }

  #item(at: number): Scalar {
    const end = this.#after(ITEM, at);
    const source = this.#text.slice(at, end);
    return this.#scalar(plainValue(source), 'PLAIN', [at, end, end], source);
  }

  /** The lines after `|`, up to one that is indented less than the first. */
  #literal(begin: number, column: number): Scalar {
    if (this.#text[begin + 1] !== '\n') throw unusual;
    const indent = this.#after(SPACES, begin + 2) - (begin + 2);
    const lines: string[] = [];
    let [at, end] = [begin + 2, begin + 2];
    while (at < this.#text.length) {
      const lineEnd = this.#text.indexOf('\n', at);
      const start = this.#after(SPACES, at);
      if (start === lineEnd && (lineEnd - at > indent || lines.length === 0)) throw unusual;
      if (start < lineEnd && start - at < indent) break;
      lines.push(this.#text.slice(at + indent, Math.max(lineEnd, at + indent)));
      at = lineEnd + 1;
      if (start < lineEnd) end = Math.min(at, this.#length);
    }
    while (lines.at(-1) === '') lines.pop();
    if (indent <= column || lines.length === 0) throw unusual;
    this.#end = end;
    this.#toLine(at);
    return this.#scalar(`${lines.join('\n')}\n`, 'BLOCK_LITERAL', [begin, end, end]);
  }

  #scalar(value: string | number | boolean, type: Scalar.Type, range: Range, source = String(value)): Scalar {
    this.#count(TOKENS_OF_VALUE);
    const scalar = new Scalar(value);
    scalar.range = range;
    scalar.source = source;
    scalar.type = type;
    return scalar;
  }
}

/** The value of an unquoted text by the core schema of YAML 1.2. */
function plainValue(source: string): string | number | boolean {
  if (/^(?:true|True|TRUE)$/.test(source)) return true;
  if (/^(?:false|False|FALSE)$/.test(source)) return false;
  if (WORD.test(source)) throw unusual;
  if (!/^[-+.\d]/.test(source)) return source;
  if (/^\d{1,15}$/.test(source)) return Number(source);
  // No number has one of these.
  if (/[ /*:=,$]/.test(source)) return source;
  throw unusual;
}
