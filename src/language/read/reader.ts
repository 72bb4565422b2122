import type { Node } from 'yaml';
import type { DiagnosticCode } from '../codes.ts';
import type { Source } from '../diagnostic.ts';
import type { Path, Problem, ProblemOptions } from '../problem.ts';
import { problem } from '../problem.ts';
import type { Schema } from '../schema/schema.ts';

/** Told of every value that is read: where its key and it itself stand in the text. */
export type Recorder = (path: Path, key: Range, value: Range) => void;
/** Offsets in the text, the end exclusive. */
export type Range = readonly [number, number];

/** Where a value is to be put, and what is expected there. */
export type Place = { readonly path: Path; readonly schema: Schema; readonly depth: number };

/** The state of reading one document. */
export type Reader = {
  readonly source: Source;
  readonly problems: Problem[];
  readonly anchors: Map<string, { node: Node; open: boolean }>;
  readonly record: Recorder | null;
  readonly reported: Set<string>;
  readonly damaged: Set<unknown>;
  /** Keys in another than their documented spelling, by the path of their value (`pathMark`). */
  readonly spellings: Map<string, string>;
  /** How deep in aliases the reader is, and what they added so far. */
  readonly aliases: { depth: number; values: number; letters: number };
  suggestionsLeft: number;
};

/** Adds a problem, once for each place. */
export function report(
  reader: Reader,
  code: DiagnosticCode,
  range: Range,
  message: string,
  options?: ProblemOptions,
): void {
  // What an alias or a merge brings in is read, and would be reported, once for every place.
  const mark = `${code} ${range[0]}`;
  if (reader.reported.has(mark)) return;
  reader.reported.add(mark);
  reader.problems.push(problem(code, { source: reader.source, range: [range[0], range[1]] }, message, options));
}

/** Where a node stands; the beginning of the text for none. */
export function rangeOf(node: Node | null): Range {
  const range = node?.range;
  return range === null || range === undefined ? [0, 0] : [range[0], range[1]];
}

/** The name after `&` before a node. */
export function anchorOf(node: Node): string | undefined {
  return (node as { anchor?: string }).anchor;
}
