import type { Node, YAMLMap } from 'yaml';
import { isMap, isScalar, isSeq } from 'yaml';
import type { Place, Source } from './diagnostic.ts';
import { canonicalKey } from './read/canonical-key.ts';
import { lineIndex } from './read/line-index.ts';
import { parse } from './read/parse.ts';
import { textOf } from './read/scalar.ts';

/**
 * Finds the positions of steps, and of handlers as `handlerOn.<kind>`, in the texts of a workflow. The position of a
 * step is the first line of its entry. Unknown names are left out. Parses the texts, so call it only after a failure.
 */
export function locateSteps(sources: readonly Source[], names: readonly string[]): Map<string, Place> {
  const missing = new Set(names);
  const places = new Map<string, Place>();
  for (const source of sources) {
    if (missing.size === 0) break;
    const toPlace = lineIndex(source);
    for (const { name, start, end } of namedEntries(source)) {
      if (missing.delete(name)) places.set(name, toPlace(start, endOfLine(source.text, start, end)));
    }
  }
  return places;
}

type NamedEntry = { readonly name: string; readonly start: number; readonly end: number };

function namedEntries(source: Source): NamedEntry[] {
  const contents = parse(source).document?.contents;
  if (!isMap(contents)) return [];
  const steps = valueOfKey(contents, 'steps');
  const handlers = valueOfKey(contents, 'handleron');
  return [...listedSteps(steps), ...entriesOf(steps, ''), ...entriesOf(handlers, 'handlerOn.')];
}

function listedSteps(steps: Node | null): NamedEntry[] {
  if (!isSeq(steps)) return [];
  return steps.items.flatMap((item) => {
    if (!isMap(item)) return [];
    const name = valueOfKey(item, 'name') ?? valueOfKey(item, 'id');
    const [start = 0, end = 0] = item.range ?? [];
    return isScalar(name) ? [{ name: textOf(name), start, end }] : [];
  });
}

/** The entries of a map by their keys; kinds of handlers in the documented spelling. */
function entriesOf(map: Node | null, prefix: string): NamedEntry[] {
  if (!isMap(map)) return [];
  return map.items.flatMap(({ key, value }) => {
    if (!isScalar(key)) return [];
    const [start = 0] = key.range ?? [];
    const end = (value as Node | null)?.range?.[1] ?? start;
    return [{ name: prefix === '' ? textOf(key) : `${prefix}${canonicalKey(textOf(key))}`, start, end }];
  });
}

function valueOfKey(map: YAMLMap, key: string): Node | null {
  const pair = map.items.find((item) => isScalar(item.key) && canonicalKey(textOf(item.key)) === key);
  return (pair?.value as Node | null | undefined) ?? null;
}

function endOfLine(text: string, start: number, end: number): number {
  const line = text.slice(start, end).split(/\r?\n/, 1)[0] ?? '';
  return start + line.trimEnd().length;
}
