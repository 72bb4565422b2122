import { lineIndex, type Position, type Source } from './diagnostic.ts';
import { type MapNode, type Node, textOf } from './read/node.ts';
import { parse } from './read/parse.ts';
import { canonicalKey } from './schema/schema-type.ts';

/** Finds steps, and handlers as `handlerOn.<kind>`, by their first lines. Parses the texts: call it after a failure. */
export function locateSteps(sources: readonly Source[], names: readonly string[]): Map<string, Position> {
  const missing = new Set(names);
  const positions = new Map<string, Position>();
  for (const source of sources) {
    if (missing.size === 0) break;
    const toPosition = lineIndex(source);
    for (const { name, start, end } of namedEntries(source)) {
      if (missing.delete(name)) positions.set(name, toPosition(start, endOfLine(source.text, start, end)));
    }
  }
  return positions;
}

/** Finds the entry of `env` or `secrets` that sets a variable; of several the last one, which counts. Parses the texts. */
export function locateVariable(sources: readonly Source[], name: string): Position | null {
  for (const source of sources) {
    const contents = parse(source).document?.contents;
    if (contents?.kind !== 'map') continue;
    const [env, secrets] = [valueOfKey(contents, 'env'), valueOfKey(contents, 'secrets')];
    const nodes = [...variablesIn(env, keysOf), ...variablesIn(secrets, (map) => valueOfKey(map, 'name') ?? [])];
    const found = nodes.findLast((node) => nameIn(node) === name);
    if (found !== undefined) return lineIndex(source)(found.start, found.end);
  }
  return null;
}

/** The nodes that begin with the name of a variable; `namesOf`: those of a map. */
function variablesIn(node: Node | null, namesOf: (map: MapNode) => Node | Node[]): Node[] {
  if (node?.kind === 'list') return node.items.flatMap((item) => variablesIn(item, namesOf));
  if (node?.kind === 'map') return [namesOf(node)].flat();
  return node === null ? [] : [node];
}

function keysOf({ entries }: MapNode): Node[] {
  return entries.flatMap(({ key }) => key ?? []);
}

function nameIn(node: Node): string | null {
  return node.kind === 'scalar' ? (textOf(node).split('=', 1)[0] ?? null) : null;
}

type NamedEntry = { readonly name: string; readonly start: number; readonly end: number };

function namedEntries(source: Source): NamedEntry[] {
  const contents = parse(source).document?.contents;
  if (contents?.kind !== 'map') return [];
  const steps = valueOfKey(contents, 'steps');
  const handlers = valueOfKey(contents, 'handleron');
  return [...listedSteps(steps), ...entriesOf(steps, ''), ...entriesOf(handlers, 'handlerOn.')];
}

function listedSteps(steps: Node | null): NamedEntry[] {
  if (steps?.kind !== 'list') return [];
  return steps.items.flatMap((item) => {
    if (item.kind !== 'map') return [];
    const name = valueOfKey(item, 'name') ?? valueOfKey(item, 'id');
    const { start, end } = item;
    return name?.kind === 'scalar' ? [{ name: textOf(name), start, end }] : [];
  });
}

/** The entries of a map by their keys; kinds of handlers in the documented spelling. */
function entriesOf(map: Node | null, prefix: string): NamedEntry[] {
  if (map?.kind !== 'map') return [];
  return map.entries.flatMap(({ key, value }) => {
    if (key?.kind !== 'scalar') return [];
    const { start } = key;
    const end = value?.end ?? start;
    return [{ name: prefix === '' ? textOf(key) : `${prefix}${canonicalKey(textOf(key))}`, start, end }];
  });
}

function valueOfKey(map: MapNode, key: string): Node | null {
  const entry = map.entries.find((other) => other.key?.kind === 'scalar' && canonicalKey(textOf(other.key)) === key);
  return entry?.value ?? null;
}

function endOfLine(text: string, start: number, end: number): number {
  const line = text.slice(start, end).split(/\r?\n/, 1)[0] ?? '';
  return start + line.trimEnd().length;
}
