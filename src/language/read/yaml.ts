/** Reading YAML files that are no workflows, with the same guards. */

export { decode } from './decode.ts';
export { type MapEntry, type Node, textOf } from './node.ts';
export { parse } from './parse.ts';
