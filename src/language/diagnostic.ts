/** A place in a file. Lines and columns count from 1; columns count UTF-16 code units; `end` is exclusive. */
export type Place = {
  /** Absolute path, or `-` for standard input. */
  readonly file: string;
  readonly start: Position;
  readonly end: Position;
};

/** Line and column, both from 1. */
export type Position = { readonly line: number; readonly column: number };

/** One problem of a workflow file. */
export type Diagnostic = {
  readonly severity: 'error' | 'warning';
  /** Stable kebab-case word for the kind of problem, such as `unknown-key`. */
  readonly code: string;
  /** What is wrong, with the names in quotes, without the place. */
  readonly message: string;
  /** Null when the problem is the file as a whole (not found, not UTF-8). */
  readonly place: Place | null;
  /** A few words to stand at the mark in the code frame (`did you mean "command"?`); empty for none. */
  readonly label: string;
  /** Other places that belong to the problem: the first of two duplicates, the edges of a cycle. */
  readonly related: readonly { readonly place: Place; readonly message: string }[];
  /** For a problem in an imported file: the `imports` entries that led there, outermost first. */
  readonly importedFrom: readonly Place[];
  /** What to do, as a sentence; null when the message says it all. */
  readonly help: string | null;
  /** Only of `more-problems`: what it stands for. */
  readonly unshown?: Unshown;
};

/** Problems that are only counted: how many, and the paths of their files. */
export type Unshown = { readonly errors: number; readonly warnings: number; readonly files: readonly string[] };

/** The text of a file that a workflow was read from: the root file first, then imports, then the base configuration. */
export type Source = {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  readonly text: string;
};
