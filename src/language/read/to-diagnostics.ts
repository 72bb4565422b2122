import type { Document } from 'yaml';
import type { Diagnostic, Place, Source } from '../diagnostic.ts';
import type { Problem, Spot } from '../problem.ts';
import type { Locator } from './locator.ts';
import { createLocator } from './locator.ts';

/** More than this is not read by anyone; the rest is counted. */
const MOST = 100;
/** What is said of one problem names values of the file, and any of them may be as long as the file itself. */
const LONGEST_TEXT = 2000;
/** Other places of one problem. */
const MOST_RELATED = 20;

/** A problem with its file, counted in the order of loading, and its offset there; -1 for the file as a whole. */
type Placed = { readonly problem: Problem; readonly file: number; readonly offset: number };

/** What is needed to show problems: the files in the order of loading, what led to each, and what was read from it. */
export type Loaded = {
  readonly sources: readonly Source[];
  readonly importedFrom: ReadonlyMap<Source, readonly Spot[]>;
  readonly documents: ReadonlyMap<Source, Document.Parsed>;
};

/** Problems with their places, by file in the order of loading and by position; what is about a whole file comes first. */
export function toDiagnostics(problems: readonly Problem[], loaded: Loaded): Diagnostic[] {
  if (problems.length === 0) return [];
  const locator = createLocator(loaded.documents);
  const order = new Map(loaded.sources.map((source, index) => [source, index]));
  const placed = problems.map((problem): Placed => {
    const file = order.get(problem.spot.source) ?? 0;
    return { problem, file, offset: locator.rangeOf(problem.spot)?.[0] ?? -1 };
  });
  placed.sort((a, b) => a.file - b.file || a.offset - b.offset);
  const shown = placed.length > MOST ? keepErrors(placed) : placed;
  const diagnostics = shown.map(({ problem }) => toDiagnostic(problem, locator, loaded));
  if (shown.length === placed.length) return diagnostics;
  const kept = new Set(shown);
  return [...diagnostics, moreProblems(placed.filter((entry) => !kept.has(entry)).map(({ problem }) => problem))];
}

function toDiagnostic(problem: Problem, { placeOf }: Locator, loaded: Loaded): Diagnostic {
  const { severity, code, message, label, help, spot } = problem;
  return {
    severity,
    code,
    message: shortened(message),
    place: placeOf(spot) ?? beginning(spot.source, loaded),
    label: shortened(typeof label === 'string' ? label : label()),
    related: problem.related.slice(0, MOST_RELATED).flatMap((entry) => {
      const where = placeOf(entry.spot);
      return where === null ? [] : [{ place: where, message: shortened(entry.message) }];
    }),
    importedFrom: (loaded.importedFrom.get(spot.source) ?? []).flatMap((entry) => placeOf(entry) ?? []),
    help: help === null ? null : shortened(help),
  };
}

/** The beginning and the end of a text that is too long to be read. */
function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT / 2)} ... ${text.slice(-LONGEST_TEXT / 2)}`;
}

/** What is wrong with an import or the base as a whole is told at its beginning, which names it; null for the root file. */
function beginning({ path }: Source, { sources: [root] }: Loaded): Place | null {
  const start = { line: 1, column: 1 };
  return path === root?.path ? null : { file: path, start, end: start };
}

/** Errors go before warnings when not all can be shown; the order stays. */
function keepErrors(placed: readonly Placed[]): Placed[] {
  const errors = placed.filter(({ problem }) => problem.severity === 'error').slice(0, MOST);
  const kept = new Set(errors);
  for (const entry of placed) if (kept.size < MOST) kept.add(entry);
  return placed.filter((entry) => kept.has(entry));
}

/** An error where one of them is. */
function moreProblems(problems: readonly Problem[]): Diagnostic {
  const count = problems.length;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const files = [...new Set(problems.map(({ spot }) => spot.source.path))];
  const message = `${count} more ${count === 1 ? 'problem is' : 'problems are'} not shown`;
  const nowhere = { place: null, label: '', related: [], importedFrom: [] };
  return {
    severity: errors > 0 ? 'error' : 'warning',
    code: 'more-problems',
    message,
    ...nowhere,
    help: 'Correct the first ones and try again.',
    unshown: { errors, warnings: count - errors, files },
  };
}
