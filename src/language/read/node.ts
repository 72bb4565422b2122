import type { DiagnosticCode } from '../codes.ts';
import { type Path, type Problem, type ProblemOptions, problem, type Source } from '../diagnostic.ts';
import type { Schema } from '../schema/schema-type.ts';

/** A value as written in a YAML text: what parsing leaves for reading. Offsets count UTF-16 units, `end` is exclusive. */
export type Node = ScalarNode | ListNode | MapNode | AliasNode;

type Placed = {
  readonly start: number;
  readonly end: number;
  /** The name after `&` before the value. */
  readonly anchor: string | undefined;
};

/** A text, or a value that YAML 1.2 distinguishes from text. */
export type ScalarNode = Placed & {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** The text as written, without quotes, escapes and indentation. */
  readonly text: string;
  /** Whether it has no quotes and is no block. */
  readonly isPlain: boolean;
  /** Of a key that was read from another form: the key as the file has it. */
  readonly written?: string;
};

/** A list, by indentation or in brackets. */
export type ListNode = Placed & { readonly kind: 'list'; readonly items: readonly Node[] };

/** A map, by indentation or in braces; keys may occur twice. */
export type MapNode = Placed & { readonly kind: 'map'; readonly entries: readonly MapEntry[] };

/** An entry of a map; null where nothing is written, not even an empty value. */
export type MapEntry = { readonly key: Node | null; readonly value: Node | null };

/** A reference to a value with an anchor. */
export type AliasNode = Placed & { readonly kind: 'alias'; readonly name: string };

/** The text of a scalar as written in the file, without its quotes. */
export function textOf({ value, text }: ScalarNode): string {
  return typeof value === 'string' ? value : text;
}

/** A parsed text. */
export type YamlDocument = {
  /** Null for an empty document. */
  readonly contents: Node | null;
  /** Tags without a meaning, whose values are read without them. */
  readonly unknownTags: readonly Range[];
  /** Where it starts in the text. */
  readonly start: number;
};

/** The document of a YAML text; null if the text is empty, or for the reasons in `problems`. */
export type ParseResult =
  | { readonly document: YamlDocument | null; readonly problems: readonly [] }
  | { readonly document: null; readonly problems: readonly Problem[] };

/** Maximum nesting of maps and lists. */
export const DEEPEST = 100;

/** Maximum number of tokens of a text: parsing time depends on their number more than on the length of the text. */
export const MOST_TOKENS = 800_000;

/** Called for every value, with the ranges of its key and of the value itself. */
export type Recorder = (path: Path, key: Range, value: Range) => void;
/** Offsets in the text, the end exclusive. */
export type Range = readonly [number, number];

/** The target of a value, and its schema. */
export type Target = { readonly path: Path; readonly schema: Schema; readonly depth: number };

/** The state of reading one document. */
export type Reader = {
  readonly source: Source;
  readonly problems: Problem[];
  readonly anchors: Map<string, { node: Node; open: boolean }>;
  readonly record: Recorder | null;
  readonly reported: Set<string>;
  readonly damaged: Set<unknown>;
  /** Keys that differ from their documented spelling, by the path of their value (`pathMark`). */
  readonly spellings: Map<string, string>;
  /** How deep in aliases the reader is, and what they have added so far. */
  readonly aliases: { depth: number; values: number; letters: number };
  suggestionsLeft: number;
};

/** Adds a problem, once per position. Returns null, for a value that is not read. */
export function report(
  { source, problems, reported }: Reader,
  code: DiagnosticCode,
  range: Range,
  message: string,
  options?: ProblemOptions,
): null {
  // The content of an alias or a merge is read, and would be reported, every time it is used.
  const mark = `${code} ${range[0]}`;
  if (!reported.has(mark)) problems.push(problem(code, { source, range }, message, options));
  reported.add(mark);
  return null;
}

/** The range of a node; the start of the text if there is no node. */
export function rangeOf(node: Node | null): Range {
  return node === null ? [0, 0] : [node.start, node.end];
}
