/** Returns a line of the text, counted from 1; null if it does not exist. */
export type LineAt = (line: number) => string | null;

type Line = {
  readonly dashes: readonly number[];
  /** The column after the dashes. */
  readonly column: number;
  readonly key: string | null;
  readonly value: string;
  /** The start column of the value. */
  readonly start: number;
};

/**
 * Finds the location of a position by the indentation of the lines above it, so that it works in an incomplete text
 * that is not valid YAML. Null in comments, block scalars and texts that continue on another line.
 */
export function positionAt(lineAt: LineAt, { line, column }: { line: number; column: number }): YamlPosition | null {
  const written = (lineAt(line) ?? '').slice(0, column);
  if (/(?:^|\s)#/.test(written)) return null;
  const flow = positionInFlow(lineAt, { line, column });
  if (flow !== undefined) return flow;
  const own = partsOf(written);
  const present = new Map<string, string>();
  const path: PathStep[] = [];
  let current = present;
  let kind: YamlPosition['kind'] = 'key';
  let from = own.column;
  if (own.key !== null) {
    kind = 'value';
    from = column - own.value.length;
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

/** Returns the location of the key at a position, and the columns of the key; null if there is no key. */
export function keyAt(
  lineAt: LineAt,
  { line, column }: { line: number; column: number },
): { readonly position: YamlPosition; readonly from: number; readonly to: number } | null {
  const text = lineAt(line) ?? '';
  const inFlow = positionInFlow(lineAt, { line, column });
  if (inFlow?.kind === 'key') return flowKeyAt(text, inFlow);
  const { key, column: from } = partsOf(text);
  if (key === null || column < from || column > from + key.length) return null;
  const position = positionAt(lineAt, { line, column: text.indexOf(':', from + key.length) + 1 });
  return position === null ? null : { position, from, to: from + key.length };
}

function flowKeyAt(text: string, { path, present, from }: YamlPosition): ReturnType<typeof keyAt> {
  const [, written] = /^("[^"]*"|'[^']*'|[\w.$-]+)\s*:(?:\s|$)/.exec(text.slice(from)) ?? [];
  if (written === undefined) return null;
  const key = written.replace(/^(["'])(.*)\1$/, '$2');
  const position = { kind: 'value', path: [...path, { key, beside: present }], present: new Map(), from } as const;
  return { position, from, to: from + written.length };
}

/** A location in a value in flow style that begins here or above; undefined: outside, null: in a text. */
function positionInFlow(
  lineAt: LineAt,
  { line, column }: { line: number; column: number },
): YamlPosition | null | undefined {
  let above = '';
  let indent = Number.POSITIVE_INFINITY;
  for (let number = line; number >= 1; number--) {
    const text = lineAt(number) ?? '';
    if (/^(?:---|\.\.\.)/.test(text)) return undefined;
    const first = partsOf(number === line ? text.slice(0, column) : text);
    const parent = first.key === null ? (first.dashes.at(-1) ?? -1) : first.column;
    if (/^[[{]/.test(first.value) && parent < indent) {
      const begin = number === line ? -first.start : text.length + 1 + above.length - first.start;
      const whole = [
        text + (number === line ? '' : `\n${above}${lineAt(line)}`),
        ...linesBelow(lineAt, { line, parent }),
      ];
      const inner = flowPositionAt(whole.join('\n').slice(first.start), begin + column);
      if (inner !== null) {
        const outer = positionAt(lineAt, { line: number, column: first.start });
        if (outer === null || inner.from < begin) return null;
        return { ...inner, path: [...outer.path, ...inner.path], from: inner.from - begin };
      }
      if (number === line) return null;
    }
    if (number < line) above = `${text}\n${above}`;
    if (!/^\s*(?:[\]}#]|$)/.test(text)) indent = Math.min(indent, text.search(/\S/));
  }
  return undefined;
}

/** The lines that a value in flow style can span: those indented deeper than its key, and closing brackets. */
function linesBelow(lineAt: LineAt, { line, parent }: { line: number; parent: number }): readonly string[] {
  const lines: string[] = [];
  for (let number = line + 1; ; number++) {
    const text = lineAt(number);
    if (text === null || (text.search(/\S/) <= parent && !/^\s*(?:[\]}]|$)/.test(text))) return lines;
    lines.push(text);
  }
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
  if (key === undefined) return { dashes, column, key: null, value: rest, start: column };
  const start = text.length - value.length;
  return { dashes, column, key, value: value.replace(/(?:^|\s+)#.*$/, ''), start };
}

/** An unclosed map or list in flow style. */
type Frame = {
  readonly isMap: boolean;
  /** The keys of the map with the texts of their values. */
  readonly keys: Map<string, string>;
  /** The key whose value is being read. */
  key: string | null;
  /** The key or the value read so far, and its start. */
  word: string;
  from: number;
  /** Whether the position is in this key or value, which then does not count as present. */
  isWritten: boolean;
};

/** A location in a value in flow style; null outside of its brackets and in quoted texts. */
function flowPositionAt(text: string, position: number): YamlPosition | null {
  const stack: Frame[] = [];
  let found: readonly Frame[] | null = null;
  let result: YamlPosition | null = null;
  for (let at = 0; at <= text.length; at++) {
    if (at === position) {
      found = [...stack];
      result = positionIn(found, position);
      const last = stack.at(-1);
      if (last !== undefined) last.isWritten = true;
    }
    const end = quoteEnd(text, at, stack.at(-1));
    const comment = /\s/.test(text[at - 1] ?? '') ? /^#.*/.exec(text.slice(at))?.[0] : undefined;
    if (comment !== undefined) at += comment.length - 1;
    else if (end !== null) {
      if (at < position && position < end) return null;
      append(stack.at(-1), text.slice(at, end), at);
      at = end - 1;
    } else read(stack, text, at);
    // Keys after the position count as well.
    if (stack.length === 0 && at > 0) break;
    if (found !== null && stack.length < found.length) break;
  }
  return result;
}

function positionIn(stack: readonly Frame[], position: number): YamlPosition | null {
  const last = stack.at(-1);
  if (last === undefined) return null;
  const steps = stack.map(({ isMap, key, keys }) => ({ key: isMap ? key : null, beside: keys }));
  const isKey = last.isMap && last.key === null;
  return {
    kind: last.isMap && last.key !== null ? 'value' : 'key',
    path: isKey ? steps.slice(0, -1) : steps,
    present: isKey ? last.keys : new Map(),
    from: last.word === '' ? position : last.from,
    isFlow: true,
  };
}

/** Reads one character. */
function read(stack: Frame[], text: string, at: number): void {
  const char = text[at] ?? '';
  const frame = stack.at(-1);
  if ((char === '{' || char === '[') && (frame === undefined || frame.word === '')) {
    stack.push({ isMap: char === '{', keys: new Map(), key: null, word: '', from: at + 1, isWritten: false });
  } else if (frame === undefined) return;
  else if (char === '\n' && frame.word === '') frame.isWritten = false;
  else if (char === '}' || char === ']') {
    finish(frame);
    stack.pop();
    append(stack.at(-1), '{}', at);
  } else if (char === ',') finish(frame);
  else if (char === ':' && frame.isMap && frame.key === null && /^(?:[\s,{}[\]"']|$)/.test(text.slice(at + 1))) {
    frame.key = frame.word.trim().replace(/^(["'])(.*)\1$/, '$2');
    frame.word = '';
  } else if (!/\s/.test(char) || frame.word !== '') append(frame, char, at);
}

function append(frame: Frame | undefined, text: string, at: number): void {
  if (frame === undefined) return;
  if (frame.word === '') frame.from = at;
  frame.word += text;
}

function finish(frame: Frame): void {
  const name = (frame.key ?? frame.word).trim();
  if (frame.isMap && name !== '' && !frame.isWritten) frame.keys.set(name, frame.word.trim());
  frame.key = null;
  frame.word = '';
  frame.isWritten = false;
}

/** The end of a quoted text that begins here; null if there is none. */
function quoteEnd(text: string, at: number, frame: Frame | undefined): number | null {
  const quote = text[at];
  if (frame === undefined || frame.word !== '' || (quote !== '"' && quote !== "'")) return null;
  const end = /^"(?:[^"\\]|\\.)*"|^'(?:[^']|'')*'/.exec(text.slice(at));
  return end === null ? text.length + 1 : at + end[0].length;
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
  /** The start column of the word, from 0. */
  readonly from: number;
  /** Present in a map or a list in flow style. */
  readonly isFlow?: true;
};
