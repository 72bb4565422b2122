import type { Json } from '#core/workflow.ts';
import type { DiagnosticCode } from '../codes.ts';
import type { ProblemOptions } from '../diagnostic.ts';
import type { ListNode, MapEntry, MapNode, Node, ScalarNode } from '../read/node.ts';
import { textOf } from '../read/node.ts';
import { canonicalKey } from '../schema/schema-type.ts';

/** Reports a problem at a node. */
export type Report = (code: DiagnosticCode, at: Node, message: string, options?: ProblemOptions) => void;

/** An entry with both parts; an empty value stands at its key. */
export type Field = { readonly key: Node; readonly value: Node };

/** A text at the position of another node. */
export function scalar(text: string, { start, end }: Pick<Node, 'start' | 'end'>): ScalarNode {
  return { kind: 'scalar', value: text, text, isPlain: false, start, end, anchor: undefined };
}

/** A list at the position of another node. */
export function list(items: readonly Node[], { start, end }: Node): ListNode {
  return { kind: 'list', items, start, end, anchor: undefined };
}

/** A map at the position of another node. */
export function map(entries: readonly MapEntry[], { start, end }: Node): MapNode {
  return { kind: 'map', entries, start, end, anchor: undefined };
}

/** An entry under a documented key; messages and positions are those of the key `at`. */
export function entry(name: string, at: Node, value: Node): MapEntry {
  const key = scalar(name, at);
  const written = at.kind === 'scalar' ? textOf(at) : name;
  return { key: written === name ? key : { ...key, written }, value };
}

/** The text of a scalar; null for other nodes and for nothing. */
export function textIn(node: Node | null | undefined): string | null {
  return node?.kind === 'scalar' ? textOf(node) : null;
}

/** The entries of a map, by their keys in any spelling. Entries that were taken are not among the rest. */
export class Fields {
  #entries: readonly MapEntry[];

  constructor(entries: readonly MapEntry[]) {
    this.#entries = entries;
  }

  get rest(): readonly MapEntry[] {
    return this.#entries;
  }

  get(name: string): Field | null {
    const wanted = canonicalKey(name);
    const found = this.#entries.find(({ key }) => key?.kind === 'scalar' && canonicalKey(textOf(key)) === wanted);
    return found?.key == null ? null : { key: found.key, value: found.value ?? scalar('', found.key) };
  }

  take(name: string): Field | null {
    const found = this.get(name);
    if (found !== null) this.#entries = this.#entries.filter(({ key }) => key !== found.key);
    return found;
  }

  add(...entries: readonly MapEntry[]): void {
    this.#entries = [...this.#entries, ...entries];
  }
}

/** The maps in a list, or in the values of a map, with their `name`, `id` or key. */
export function namedMaps(node: Node | undefined): readonly { readonly name: string | null; readonly map: MapNode }[] {
  const items: readonly MapEntry[] =
    node?.kind === 'list'
      ? node.items.map((value) => ({ key: null, value }))
      : node?.kind === 'map'
        ? node.entries
        : [];
  return items.flatMap(({ key, value }) => {
    if (value?.kind !== 'map') return [];
    const fields = new Fields(value.entries);
    return [{ name: textIn(fields.get('name')?.value) ?? textIn(fields.get('id')?.value) ?? textIn(key), map: value }];
  });
}

/** Maximum number of nodes that the replacement of aliases may add. */
const MOST_NODES = 20_000;

/**
 * Replaces aliases, and merges of maps, by the values with these anchors, so that the keys of steps are known. An alias that
 * is not valid, or beyond the limit, stays, and is reported when the file is read.
 */
export function withoutAliases(root: Node): Node {
  const anchors = new Map<string, Node>();
  let left = MOST_NODES;
  const targetOf = (node: Node | null): Node | null => {
    const target = node?.kind === 'alias' ? anchors.get(node.name) : undefined;
    if (target === undefined || left < 0) return null;
    left -= sizeOf(target);
    return left < 0 ? null : { ...target, anchor: undefined };
  };
  const expand = (node: Node): Node => {
    if (node.kind === 'alias') return targetOf(node) ?? node;
    const expanded = children(node, expand);
    if (node.anchor !== undefined) anchors.set(node.anchor, expanded);
    return expanded;
  };
  const children = (node: Exclude<Node, { kind: 'alias' }>, each: (node: Node) => Node): Node => {
    if (node.kind === 'scalar') return node;
    if (node.kind === 'list') return { ...node, items: node.items.map(each) };
    const entries = node.entries.map(({ key, value }) => ({ key, value: value === null ? null : each(value) }));
    return { ...node, entries: entries.flatMap((found) => mergedEntries(found, entries)) };
  };
  return expand(root);
}

/** The entries of a merge that the map itself does not have; any other entry as it is. */
function mergedEntries(found: MapEntry, all: readonly MapEntry[]): readonly MapEntry[] {
  if (found.key?.kind !== 'scalar' || !found.key.isPlain || found.key.text !== '<<') return [found];
  const sources = found.value?.kind === 'list' ? found.value.items : [found.value];
  if (!sources.every((source) => source?.kind === 'map')) return [found];
  const own = new Set(all.map(({ key }) => canonicalKey(textIn(key) ?? '')));
  return sources.flatMap((source) =>
    (source?.kind === 'map' ? source.entries : []).filter(({ key }) => {
      const name = canonicalKey(textIn(key) ?? '');
      const isNew = !own.has(name);
      own.add(name);
      return isNew;
    }),
  );
}

function sizeOf(node: Node): number {
  if (node.kind === 'list') return node.items.reduce((sum, item) => sum + sizeOf(item), 1);
  if (node.kind !== 'map') return 1;
  return node.entries.reduce((sum, { value }) => sum + (value === null ? 1 : sizeOf(value)), 1);
}

/**
 * The tree with changed texts; keys stay. Nodes without a change are the same objects. `replace` returns another node for a
 * map as a whole, or null.
 */
export function withTextsOf(
  root: Node,
  change: (text: string, node: Node) => string,
  replace: (map: MapNode) => Node | null = () => null,
): Node {
  const visit = (node: Node): Node => {
    if (node.kind === 'scalar') {
      const text = textOf(node);
      const changed = change(text, node);
      return changed === text ? node : scalar(changed, node);
    }
    if (node.kind === 'list') {
      const items = node.items.map(visit);
      return items.some((item, at) => item !== node.items[at]) ? { ...node, items } : node;
    }
    if (node.kind !== 'map') return node;
    const replaced = replace(node);
    if (replaced !== null) return replaced;
    const values = node.entries.map(({ value }) => (value === null ? null : visit(value)));
    if (values.every((value, at) => value === node.entries[at]?.value)) return node;
    return { ...node, entries: node.entries.map(({ key }, at) => ({ key, value: values[at] ?? null })) };
  };
  return visit(root);
}

/** A node as JSON, with the types of YAML. */
export function jsonOf(node: Node): Json {
  if (node.kind === 'scalar') {
    const { value } = node;
    return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : (textIn(node) ?? '');
  }
  if (node.kind === 'list') return node.items.map(jsonOf);
  if (node.kind === 'alias') return null;
  return Object.fromEntries(
    node.entries.flatMap(({ key, value }) =>
      key === null ? [] : [[textIn(key) ?? '', value === null ? null : jsonOf(value)]],
    ),
  );
}
