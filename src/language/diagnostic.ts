import { WfError } from '#system/errors.ts';
import type { DiagnosticCode } from './codes.ts';

/** A range in a file. Lines and columns count from 1; columns count UTF-16 code units; `end` is exclusive. */
export type Position = {
  /** Absolute path, or `-` for standard input. */
  readonly file: string;
  readonly start: LinePosition;
  readonly end: LinePosition;
};

/** Line and column, both from 1. */
type LinePosition = { readonly line: number; readonly column: number };

/** One problem of a workflow file. */
export type Diagnostic = {
  readonly severity: 'error' | 'warning';
  /** Stable code in kebab case for the kind of problem, such as `unknown-key`. */
  readonly code: string;
  /** The problem, with names in quotes, without the position. */
  readonly message: string;
  /** Null if the problem concerns the file as a whole (not found, not UTF-8). */
  readonly position: Position | null;
  /** A short text beside the mark in the code frame (`did you mean "command"?`); may be empty. */
  readonly label: string;
  /** Other positions that belong to the problem: the first of two duplicates, the edges of a cycle. */
  readonly related: readonly { readonly position: Position; readonly message: string }[];
  /** For a problem in an imported file: the `imports` entries that led to it, outermost first. */
  readonly importedFrom: readonly Position[];
  /** Advice, as a sentence; null if the message is sufficient. */
  readonly help: string | null;
  /** Only for `more-problems`: the problems it stands for. */
  readonly unshown?: Unshown;
};

/** Problems that are only counted, with the paths of their files. */
type Unshown = { readonly errors: number; readonly warnings: number; readonly files: readonly string[] };

/** The text of a file of a workflow: the root file first, then imports, then the base configuration. */
export type Source = {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  readonly text: string;
};

/** The path to a value in a file with its keys in their documented spelling: keys, and indexes from 0. */
export type Path = readonly (string | number)[];

/** A path as the key of a map. */
export function pathMark(path: Path): string {
  return path.join('\0');
}

/** What is known of a path, or of the nearest enclosing value of which something is known. */
export function nearestOf<T>(known: ReadonlyMap<string, T>, path: Path): { found: T; isWhole: boolean } | null {
  for (let length = path.length; length > 0; length--) {
    const found = known.get(pathMark(path.slice(0, length)));
    if (found !== undefined) return { found, isWhole: length === path.length };
  }
  return null;
}

/** A range of a text (offsets, the end exclusive), a key or value by its path, or the whole file. */
export type Spot =
  | { readonly source: Source; readonly range: readonly [number, number] }
  | {
      readonly source: Source;
      readonly path: Path;
      readonly part: 'key' | 'value';
      /** A word of a text value, by its offset there: marked alone if the file contains it unchanged. */
      readonly word?: { readonly at: number; readonly text: string };
    }
  | { readonly source: Source };

/** A diagnostic without its position, which requires reading the file again if it is shown. */
export type Problem = {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly spot: Spot;
  /** A function if suggestions are expensive: it is called only for problems that are shown. */
  readonly label: string | (() => string);
  readonly help: string | null;
  readonly related: readonly { readonly spot: Spot; readonly message: string }[];
};

/** The optional parts of a problem. */
export type ProblemOptions = Partial<Pick<Problem, 'severity' | 'label' | 'help' | 'related'>>;

/** The options of a warning about a key without effect. */
export const IGNORED = { severity: 'warning', label: 'ignored' } as const;

/** Creates a problem, with its optional parts filled in. */
export function problem(code: DiagnosticCode, spot: Spot, message: string, options: ProblemOptions = {}): Problem {
  return { severity: 'error', label: '', help: null, related: [], ...options, code, message, spot };
}

/** Converts offsets in a text to positions: finds the line starts once, then each position by bisection. */
export function lineIndex(source: Source): (start: number, end: number) => Position {
  const starts = [0];
  for (let at = source.text.indexOf('\n'); at !== -1; at = source.text.indexOf('\n', at + 1)) starts.push(at + 1);
  const position = (offset: number): LinePosition => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
  return (start, end) => ({ file: source.path, start: position(start), end: position(Math.max(start, end)) });
}

/** Positions in a file that is not a workflow: the line from 1, and `params.yaml:3:5` for messages. */
export function positionsIn(source: Source): (offset: number) => { readonly line: number; readonly text: string } {
  const index = lineIndex(source);
  return (offset) => {
    const { line, column } = index(offset, offset).start;
    return { line, text: `${source.path}:${line}:${column}` };
  };
}

/** Converts a problem of a file that is not a workflow to the error of the request that named the file. */
export function fileProblem({ spot, message, help }: Problem): WfError {
  const position = 'range' in spot ? positionsIn(spot.source)(spot.range[0]).text : spot.source.path;
  return new WfError('usage', `${position}: ${message}`, help === null ? {} : { help });
}
