import type { DiagnosticCode } from './codes.ts';
import type { Source } from './diagnostic.ts';

/** The path to a value in a file with its keys in their documented spelling: keys, and indexes from 0. */
export type Path = readonly (string | number)[];

/** A path as the key of a map. */
export function pathMark(path: Path): string {
  return path.join('\0');
}

/**
 * The subject of a problem: a range of the text (offsets, the end exclusive), a key or value found by its path, or the
 * whole file.
 */
export type Spot =
  | { readonly source: Source; readonly range: readonly [number, number] }
  | {
      readonly source: Source;
      readonly path: Path;
      readonly part: 'key' | 'value';
      /**
       * A word of a text value, by its offset in the text: only the word is marked, if the file contains it unchanged.
       */
      readonly word?: { readonly at: number; readonly text: string };
    }
  | { readonly source: Source };

/**
 * A diagnostic without its position. Computing the position requires parsing the file again, which is done only if it
 * is shown.
 */
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

/** Creates a problem, with its optional parts filled in. */
export function problem(code: DiagnosticCode, spot: Spot, message: string, options: ProblemOptions = {}): Problem {
  return { severity: 'error', label: '', help: null, related: [], ...options, code, message, spot };
}
