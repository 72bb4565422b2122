import type { DiagnosticCode } from '../codes.ts';
import type { Source } from '../diagnostic.ts';
import type { Path, Problem, ProblemOptions } from '../problem.ts';
import { problem } from '../problem.ts';
import type { Schema } from '../schema/schema-type.ts';
import type { Node } from './node.ts';

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

/** Adds a problem, once per position. */
export function report(
  reader: Reader,
  code: DiagnosticCode,
  range: Range,
  message: string,
  options?: ProblemOptions,
): void {
  // The content of an alias or a merge is read, and would be reported, every time it is used.
  const mark = `${code} ${range[0]}`;
  if (reader.reported.has(mark)) return;
  reader.reported.add(mark);
  reader.problems.push(problem(code, { source: reader.source, range: [range[0], range[1]] }, message, options));
}

/** The range of a node; the start of the text if there is no node. */
export function rangeOf(node: Node | null): Range {
  return node === null ? [0, 0] : [node.start, node.end];
}
