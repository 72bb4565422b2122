import type { DiagnosticCode } from './codes.ts';
import type { Source } from './diagnostic.ts';

/** The way to a value in a file after its keys were brought to their documented spelling: keys, and indexes from 0. */
export type Path = readonly (string | number)[];

/** A path as a key of a map. */
export function pathMark(path: Path): string {
  return path.join('\0');
}

/**
 * What a problem is about: a stretch of the text (offsets, the end exclusive), a key or value found by its path, or the
 * file as a whole.
 */
export type Spot =
  | { readonly source: Source; readonly range: readonly [number, number] }
  | {
      readonly source: Source;
      readonly path: Path;
      readonly part: 'key' | 'value';
      /** A word of a text value, by its offset in the text: it is marked alone where it stands there unchanged. */
      readonly word?: { readonly at: number; readonly text: string };
    }
  | { readonly source: Source };

/** A diagnostic whose place is not yet computed: that costs a second look at the file, paid only when one is shown. */
export type Problem = {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly spot: Spot;
  /** A function where suggestions are dear: it is called for those problems that are shown. */
  readonly label: string | (() => string);
  readonly help: string | null;
  readonly related: readonly { readonly spot: Spot; readonly message: string }[];
};

/** What may be left out of a problem. */
export type ProblemOptions = Partial<Pick<Problem, 'severity' | 'label' | 'help' | 'related'>>;

/** A problem with its optional parts filled in. */
export function problem(code: DiagnosticCode, spot: Spot, message: string, options: ProblemOptions = {}): Problem {
  return { severity: 'error', label: '', help: null, related: [], ...options, code, message, spot };
}
