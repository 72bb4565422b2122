import { resolve } from 'node:path';
import type { Source } from '../diagnostic.ts';
import { type Problem, problem, type Spot } from '../problem.ts';
import { asList } from '../raw.ts';
import { DAYS_HELP, isDay } from '../schedule-entries.ts';
import type { FoundImport } from './imports.ts';
import { type SpecFile, spotIn } from './spec-file.ts';

/** The days of `notOn`, and the files that have them. */
export type Days = {
  readonly days: readonly string[];
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
};

/**
 * Reads the days on which a workflow does not start: those of the key, and those of the files that it names, relative to
 * `dir`. In a file, `#` begins a comment.
 */
export function readDays(file: SpecFile, dir: string, open: (path: string) => FoundImport): Days {
  const { notOn } = file.raw;
  const read = asList(notOn).map((entry, index): Days => {
    if (isDay(entry) || isLikeDay(entry)) return { days: [entry], sources: [], problems: [] };
    return readFile(
      entry,
      spotIn(file, Array.isArray(notOn) ? ['notOn', index] : ['notOn']),
      open(resolve(dir, entry)),
    );
  });
  return {
    days: read.flatMap(({ days }) => days),
    sources: read.flatMap(({ sources }) => sources),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** Whether a text that is not a day was meant to be one. */
export function isLikeDay(text: string): boolean {
  return /^[\d\s./-]*$/.test(text);
}

function readFile(name: string, spot: Spot, found: FoundImport): Days {
  if (found.kind !== 'file') {
    const message = `the file "${name}" of "notOn" ${whyNot(found)}`;
    return { days: [], sources: [], problems: [problem('unreadable', spot, message, { help: DAYS_HELP })] };
  }
  const { source } = found;
  const lines = daysIn(source.text);
  const wrong = lines.filter(({ text }) => !isDay(text));
  const problems = wrong.map(({ text, at }) =>
    problem('wrong-value', { source, range: [at, at + text.length] }, `"${text}" is not a day`, { help: DAYS_HELP }),
  );
  return { days: lines.map(({ text }) => text), sources: [source], problems: [...found.problems, ...problems] };
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
