/** A range in a file. Lines and columns count from 1; columns count UTF-16 code units; `end` is exclusive. */
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
  /** Stable code in kebab case for the kind of problem, such as `unknown-key`. */
  readonly code: string;
  /** The problem, with names in quotes, without the position. */
  readonly message: string;
  /** Null if the problem concerns the file as a whole (not found, not UTF-8). */
  readonly place: Place | null;
  /** A short text beside the mark in the code frame (`did you mean "command"?`); may be empty. */
  readonly label: string;
  /** Other positions that belong to the problem: the first of two duplicates, the edges of a cycle. */
  readonly related: readonly { readonly place: Place; readonly message: string }[];
  /** For a problem in an imported file: the `imports` entries that led to it, outermost first. */
  readonly importedFrom: readonly Place[];
  /** Advice, as a sentence; null if the message is sufficient. */
  readonly help: string | null;
  /** Only for `more-problems`: the problems it stands for. */
  readonly unshown?: Unshown;
};

/** Problems that are only counted, with the paths of their files. */
export type Unshown = { readonly errors: number; readonly warnings: number; readonly files: readonly string[] };

/** The text of a file of a workflow: the root file first, then imports, then the base configuration. */
export type Source = {
  /** Absolute path, or `-` for standard input. */
  readonly path: string;
  readonly text: string;
};
