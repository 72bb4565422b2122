import type { Alias, Pair, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { MapEntry, Node } from './node.ts';
import { yamlPackage } from './yaml-package.ts';

/** Converts a node of the package `yaml`. Recursive: the nesting of the text was limited before. */
export function toNode(node: ParsedNode | Alias | Scalar | YAMLMap | YAMLSeq): Node {
  const { isAlias, isMap, isSeq } = yamlPackage();
  const [start = 0, end = 0] = node.range ?? [];
  const place = { start, end, anchor: isAlias(node) ? undefined : node.anchor };
  if (isAlias(node)) return { kind: 'alias', name: node.source, ...place };
  if (isMap(node)) return { kind: 'map', entries: node.items.map(toEntry), ...place };
  if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => toNode(item as ParsedNode)), ...place };
  const { value, source, type } = node;
  return { kind: 'scalar', value, text: source ?? String(value ?? ''), isPlain: type === 'PLAIN', ...place };
}

function toEntry({ key, value }: Pair): MapEntry {
  return {
    key: key === null ? null : toNode(key as ParsedNode),
    value: value === null ? null : toNode(value as ParsedNode),
  };
}
