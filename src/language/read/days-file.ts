import { resolve } from 'node:path';
import type { Source } from '../diagnostic.ts';
import { type Problem, problem } from '../problem.ts';
import { DAYS_HELP, isDay } from '../schedule-entries.ts';
import type { FoundImport } from './imports.ts';
import { type SpecFile, spotIn } from './spec-file.ts';

/** The days of `notOn`, and the file that has them; null if the key is a list. */
export type Days = {
  readonly days: readonly string[];
  readonly source: Source | null;
  readonly problems: readonly Problem[];
};

/**
 * Reads the days on which a workflow does not start: of the list, or of the file that the key names, relative to `dir`.
 * In the file, `#` begins a comment.
 */
export function readDays(file: SpecFile, dir: string, open: (path: string) => FoundImport): Days {
  const { notOn } = file.raw;
  if (typeof notOn !== 'string') return { days: notOn ?? [], source: null, problems: [] };
  if (isDay(notOn)) return { days: [notOn], source: null, problems: [] };
  const found = open(resolve(dir, notOn));
  if (found.kind !== 'file') {
    const spot = spotIn(file, ['notOn']);
    const message = `the file "${notOn}" of "notOn" ${whyNot(found)}`;
    return { days: [], source: null, problems: [problem('unreadable', spot, message, { help: DAYS_HELP })] };
  }
  const { source } = found;
  const lines = daysIn(source.text);
  const wrong = lines.filter(({ text }) => !isDay(text));
  const problems = wrong.map(({ text, at }) =>
    problem('wrong-value', { source, range: [at, at + text.length] }, `"${text}" is not a day`, { help: DAYS_HELP }),
  );
  return { days: lines.map(({ text }) => text), source, problems: [...found.problems, ...problems] };
}

function whyNot(found: Exclude<FoundImport, { readonly kind: 'file' }>): string {
  switch (found.kind) {
    case 'missing':
      return 'does not exist';
    case 'outside':
      return 'is outside the directory of the workflow file';
    case 'unreadable':
      return `cannot be read: ${found.why}`;
  }
}

/** The words of a text with their offsets, one a line, without comments and empty lines. */
function daysIn(text: string): readonly { readonly text: string; readonly at: number }[] {
  return [...text.matchAll(/^[^\S\n]*([^#\s][^#\n]*)/gm)].map((match) => {
    const day = match[1] ?? '';
    return { text: day.trimEnd(), at: match.index + match[0].length - day.length };
  });
}
