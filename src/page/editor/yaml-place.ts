import { flowPlaceAt } from './flow-place.ts';
import type { PathStep, YamlPlace } from './place.ts';

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
export function placeAt(lineAt: LineAt, { line, column }: { line: number; column: number }): YamlPlace | null {
  const written = (lineAt(line) ?? '').slice(0, column);
  if (/(?:^|\s)#/.test(written)) return null;
  const flow = placeInFlow(lineAt, { line, column });
  if (flow !== undefined) return flow;
  const own = partsOf(written);
  const present = new Map<string, string>();
  const path: PathStep[] = [];
  let current = present;
  let kind: YamlPlace['kind'] = 'key';
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
): { readonly place: YamlPlace; readonly from: number; readonly to: number } | null {
  const text = lineAt(line) ?? '';
  const inFlow = placeInFlow(lineAt, { line, column });
  if (inFlow?.kind === 'key') return flowKeyAt(text, inFlow);
  const { key, column: from } = partsOf(text);
  if (key === null || column < from || column > from + key.length) return null;
  const place = placeAt(lineAt, { line, column: text.indexOf(':', from + key.length) + 1 });
  return place === null ? null : { place, from, to: from + key.length };
}

function flowKeyAt(text: string, { path, present, from }: YamlPlace): ReturnType<typeof keyAt> {
  const [, written] = /^("[^"]*"|'[^']*'|[\w.$-]+)\s*:(?:\s|$)/.exec(text.slice(from)) ?? [];
  if (written === undefined) return null;
  const key = written.replace(/^(["'])(.*)\1$/, '$2');
  const place = { kind: 'value', path: [...path, { key, beside: present }], present: new Map(), from } as const;
  return { place, from, to: from + written.length };
}

/**
 * Finds a location in a value in flow style that begins on this line or above. Undefined outside of such values, null
 * in texts within them.
 */
function placeInFlow(lineAt: LineAt, { line, column }: { line: number; column: number }): YamlPlace | null | undefined {
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
      const inner = flowPlaceAt(whole.join('\n').slice(first.start), begin + column);
      if (inner !== null) {
        const outer = placeAt(lineAt, { line: number, column: first.start });
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

/**
 * The lines that a value in flow style can span: those indented deeper than its key, and those that begin with a
 * bracket.
 */
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
