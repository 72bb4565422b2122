import { given } from '#core/data/collections.ts';
import { lineIndex, type Position, type Source } from './diagnostic.ts';
import { isDagu3, readDagu3 } from './forms/dagu-3.ts';
import { namesForUnnamed } from './forms/short-steps.ts';
import type { RawStep } from './raw.ts';
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
    // The names of unnamed steps depend on those of all files.
    for (const { name, start, end } of namedEntries(source, sources.length === 1)) {
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
    const nodes = [
      ...variablesIn(env, ({ entries }) => entries.flatMap(({ key }) => key ?? [])),
      ...variablesIn(secrets, (map) => valueOfKey(map, 'name') ?? []),
    ];
    const found = nodes.findLast((node) => node.kind === 'scalar' && textOf(node).split('=', 1)[0] === name);
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

/** The tree of a file with one document, in the form of wf. */
function contentsOf(source: Source): Node | null {
  const { document } = parse(source);
  const isOfDagu3 = document !== null && isDagu3(source.text, [document]);
  return (isOfDagu3 ? readDagu3(source, document).document : document)?.contents ?? null;
}

type NamedEntry = { readonly name: string; readonly start: number; readonly end: number };

function namedEntries(source: Source, withUnnamed: boolean): NamedEntry[] {
  const contents = contentsOf(source);
  if (contents?.kind !== 'map') return [];
  const steps = valueOfKey(contents, 'steps');
  const handlers = entriesOf(valueOfKey(contents, 'handleron'));
  const listed = steps?.kind === 'list' ? steps.items : [];
  const named = listed.flatMap((item) => {
    const name = item.kind === 'map' ? (valueOfKey(item, 'name') ?? valueOfKey(item, 'id')) : null;
    return name?.kind === 'scalar' ? [{ name: textOf(name), start: item.start, end: item.end }] : [];
  });
  return [
    ...named,
    ...(withUnnamed ? unnamedEntries(listed, named) : []),
    ...entriesOf(steps),
    ...handlers.map(({ name, ...range }) => ({ name: `handlerOn.${canonicalKey(name)}`, ...range })),
  ];
}

/** The steps of a list without a name, by the names that they get. */
function unnamedEntries(listed: readonly Node[], named: readonly NamedEntry[]): NamedEntry[] {
  const isNamed = new Set(named.map(({ start }) => start));
  const unnamed = listed.filter(({ start }) => !isNamed.has(start));
  const names = namesForUnnamed(
    unnamed.map(workOf),
    named.map(({ name }) => name),
  );
  return unnamed.map(({ start, end }, at) => ({ name: names[at] ?? '', start, end }));
}

/** The keys of a step that its name may come from. */
function workOf(step: Node): RawStep {
  if (step.kind !== 'map') return step.kind === 'scalar' ? { command: textOf(step) } : {};
  const text = (key: string) => {
    const value = valueOfKey(step, key);
    const first = value?.kind === 'list' ? value.items[0] : value;
    return first?.kind === 'scalar' ? textOf(first) : undefined;
  };
  const executor = valueOfKey(step, 'executor');
  const type = executor?.kind === 'map' ? valueOfKey(executor, 'type') : executor;
  return given({
    command: text('command') ?? text('exec'),
    run: text('run') ?? text('call'),
    script: text('script'),
    executor: type?.kind === 'scalar' ? textOf(type) : undefined,
  });
}

/** The entries of a map by their keys. */
function entriesOf(map: Node | null): NamedEntry[] {
  if (map?.kind !== 'map') return [];
  return map.entries.flatMap(({ key, value }) => {
    if (key?.kind !== 'scalar') return [];
    return [{ name: textOf(key), start: key.start, end: value?.end ?? key.start }];
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
