import type { Problem } from '../problem.ts';
import type { Node } from './node.ts';
import type { Range } from './reader.ts';

/** A parsed text. */
export type YamlDocument = {
  /** Null for an empty document. */
  readonly contents: Node | null;
  /** Tags without a meaning, whose values are read without them. */
  readonly unknownTags: readonly Range[];
};

/** The document of a YAML text; null if the text is empty, or for the reasons in `problems`. */
export type ParseResult =
  | { readonly document: YamlDocument | null; readonly problems: readonly [] }
  | { readonly document: null; readonly problems: readonly Problem[] };
