import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

/** Returns a line of the text, counted from 1; null if it does not exist. */
type LineAt = (line: number) => string | null;

type Line = {
  readonly dashes: readonly number[];
  /** The column after the dashes. */
  readonly column: number;
  readonly key: string | null;
  readonly value: string;
};

/**
 * Finds the location of a position in a YAML text: by the indentation of the lines above it, so that it works in an
 * incomplete text that is not valid YAML, and in flow style by the syntax tree. Null in comments, block scalars and texts
 * that continue on another line.
 */
export function positionAt(state: EditorState, position: number): YamlPosition | null {
  const { number: line, from: start, text: whole } = state.doc.lineAt(position);
  const lineAt: LineAt = (number) => (number < 1 || number > state.doc.lines ? null : state.doc.line(number).text);
  const written = whole.slice(0, position - start);
  if (/(?:^|\s)#/.test(written)) return null;
  const flow = positionInFlow(state, position);
  if (flow !== undefined) return flow;
  const own = partsOf(written);
  // Behind a value in flow style.
  if (/^[[{]/.test(own.value)) return null;
  const present = new Map<string, string>();
  const path: PathStep[] = [];
  let current = present;
  let kind: YamlPosition['kind'] = 'key';
  let from = start + own.column;
  if (own.key !== null) {
    kind = 'value';
    from = position - own.value.length;
    current = new Map([[own.key, own.value]]);
    path.push({ key: own.key, beside: current });
  }
  let at = own.column;
  let isEntry = false;
  const enclose = (dash: number) => {
    path.unshift({ key: null, beside: new Map() });
    at = dash;
    isEntry = true;
  };
  for (const dash of own.dashes.toReversed()) enclose(dash);

  for (let number = line - 1; number >= 1 && (at > 0 || isEntry); number--) {
    const text = lineAt(number) ?? '';
    if (/^\s*(?:#|$)/.test(text)) continue;
    if (/^(?:---|\.\.\.)/.test(text)) break;
    const other = partsOf(text);
    if (other.key !== null && other.column === at && !isEntry) current.set(other.key, other.value);
    else if (other.key !== null && (other.column < at || (isEntry && other.column === at))) {
      if (!/^(?:[&!]\S+)?$/.test(other.value)) return null;
      current = new Map([[other.key, other.value]]);
      path.unshift({ key: other.key, beside: current });
      at = other.column;
      isEntry = false;
    }
    for (const dash of other.dashes.toReversed()) {
      if (dash < at) enclose(dash);
      else if (dash === at && !isEntry) {
        if (path.length > 0 || own.value !== '') return null;
        kind = 'entry';
        isEntry = true;
      }
    }
  }
  if (kind === 'key' && own.dashes.length === 0) addBelow(lineAt, { line, column: own.column }, present);
  return { kind, path, present, from };
}

/** Returns the location of the key at a position, and the range of the key; null if there is no key. */
export function keyAt(
  state: EditorState,
  position: number,
): { readonly position: YamlPosition; readonly from: number; readonly to: number } | null {
  const { from: start, text } = state.doc.lineAt(position);
  const inFlow = positionInFlow(state, position);
  if (inFlow?.kind === 'key') return flowKeyAt(text.slice(inFlow.from - start), inFlow);
  const { key, column } = partsOf(text);
  const from = start + column;
  if (key === null || position < from || position > from + key.length) return null;
  const found = positionAt(state, start + text.indexOf(':', column + key.length) + 1);
  return found === null ? null : { position: found, from, to: from + key.length };
}

function flowKeyAt(text: string, { path, present, from }: YamlPosition): ReturnType<typeof keyAt> {
  const [, written] = /^("[^"]*"|'[^']*'|[\w.$-]+)\s*:(?:\s|$)/.exec(text) ?? [];
  if (written === undefined) return null;
  const step = { key: withoutQuotes(written), beside: present };
  const position = { kind: 'value', path: [...path, step], present: new Map(), from } as const;
  return { position, from, to: from + written.length };
}

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

/** The limit of the time to read the rest of a long text, in milliseconds. */
const PARSE_MS = 50;

/** A location in a value in flow style; undefined: outside of one, null: in a quoted text or a comment. */
function positionInFlow(state: EditorState, position: number): YamlPosition | null | undefined {
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
  const inner = tree.resolveInner(position, -1);
  let flow: SyntaxNode | null = inner;
  while (flow !== null && !isAround(state, flow, position)) flow = flow.parent;
  if (flow === null) return undefined;
  const isQuoted = inner.name === 'QuotedLiteral' && inner.from < position;
  const isOpen = !/^(["']).*\1$/s.test(state.sliceDoc(inner.from, inner.to));
  if (inner.name === 'Comment' || (isQuoted && (position < inner.to || isOpen))) return null;
  const own = entryAt(flow, position);
  const colon = own?.getChild(':') ?? null;
  const isValue = own !== null && colon !== null && colon.to <= position;
  const from = Math.min(position, (isValue ? colon.nextSibling : own)?.from ?? position);
  if (from < state.doc.lineAt(position).from) return null;
  const path = pathOf(state, flow);
  const present = keysIn(state, flow, own);
  if (flow.name === 'FlowSequence') path.push({ key: null, beside: new Map() });
  if (!isValue) return { kind: 'key', path, present, from, isFlow: true };
  path.push({ key: keyOf(state, own), beside: present });
  return { kind: 'value', path, present: new Map(), from, isFlow: true };
}

/** Whether a position is between the brackets of a map or a list in flow style; without the second one, in a deeper line. */
function isAround({ doc }: EditorState, { name, from, lastChild }: SyntaxNode, position: number): boolean {
  if (!name.startsWith('Flow') || from >= position) return false;
  if (lastChild !== null && /[\]}]/.test(lastChild.name)) return position < lastChild.to;
  const [first, line] = [doc.lineAt(from), doc.lineAt(position)];
  return first.number === line.number || first.text.search(/\S/) < line.text.search(/\S|$/);
}

/** The entry of a map or a list that a position is in or right behind. */
function entryAt(flow: SyntaxNode, position: number): SyntaxNode | null {
  let found: SyntaxNode | null = null;
  for (let child = flow.firstChild; child !== null && child.from <= position; child = child.nextSibling) {
    if (child.name === 'Pair' || child.name === 'Item') found = child;
    else if (child.from < position && child.name !== 'Comment') found = null;
  }
  return found;
}

/** The keys of a map with the texts of their values, except those of one entry. */
function keysIn(state: EditorState, map: SyntaxNode, except: SyntaxNode | null): Map<string, string> {
  const keys = new Map<string, string>();
  for (const pair of map.getChildren('Pair')) {
    const value = pair.getChild(':')?.nextSibling;
    if (pair.from !== except?.from) keys.set(keyOf(state, pair), value ? state.sliceDoc(value.from, value.to) : '');
  }
  return keys;
}

function keyOf(state: EditorState, pair: SyntaxNode): string {
  const key = pair.getChild('Key');
  return key === null ? '' : withoutQuotes(state.sliceDoc(key.from, key.to));
}

function withoutQuotes(key: string): string {
  return key.replace(/^(["'])(.*)\1$/, '$2');
}

/** The path of a value. A map without its second bracket can be the key of another one. */
function pathOf(state: EditorState, value: SyntaxNode): PathStep[] {
  const path: PathStep[] = [];
  for (let inner = value, { parent } = inner; parent !== null; inner = parent, { parent } = inner) {
    if (parent.name === 'Item') path.unshift({ key: null, beside: new Map() });
    else if (parent.name === 'Pair' && inner.name !== 'Key') {
      const beside = parent.parent === null ? new Map<string, string>() : keysIn(state, parent.parent, null);
      path.unshift({ key: keyOf(state, parent), beside });
    }
  }
  return path;
}

/** Adds the later keys of the same map. */
function addBelow(lineAt: LineAt, at: { line: number; column: number }, present: Map<string, string>): void {
  for (let number = at.line + 1; ; number++) {
    const text = lineAt(number);
    if (text === null) return;
    if (/^\s*(?:#|$)/.test(text)) continue;
    const { dashes, column, key, value } = partsOf(text);
    if ((dashes[0] ?? column) < at.column) return;
    if (column === at.column && key !== null) present.set(key, value);
  }
}

function partsOf(text: string): Line {
  const [, indent = '', marks = '', rest = ''] = /^(\s*)((?:-(?:\s+|$))*)(.*)$/s.exec(text) ?? [];
  const dashes = [...marks.matchAll(/-/g)].map(({ index }) => indent.length + index);
  const column = indent.length + marks.length + (marks.endsWith('-') ? 1 : 0);
  const [, key, value = ''] = /^("[^"]*"|'[^']*'|[^\s#"'&*![\]{}|>,][^:#]*?)\s*:(?:\s+(.*)|$)/s.exec(rest) ?? [];
  if (key === undefined) return { dashes, column, key: null, value: rest };
  return { dashes, column, key, value: value.replace(/(?:^|\s+)#.*$/, '') };
}

/** One part of a path in a YAML text. */
export type PathStep = {
  /** The key of a map; null: an entry of a list. */
  readonly key: string | null;
  /** The other keys of that map, with the texts of their values. */
  readonly beside: ReadonlyMap<string, string>;
};

/** A location in a YAML text, in block style or in a value in flow style. */
export type YamlPosition = {
  /**
   * `key`: a key of the map at the path, or a text if the path ends in a list; `value`: the value at the path; `entry`:
   * the start of an entry of the list at the path.
   */
  readonly kind: 'key' | 'value' | 'entry';
  readonly path: readonly PathStep[];
  /** The other keys of the map at the path, with the texts of their values. */
  readonly present: ReadonlyMap<string, string>;
  /** The start of the word. */
  readonly from: number;
  /** Present in a map or a list in flow style. */
  readonly isFlow?: true;
};
