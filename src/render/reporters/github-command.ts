import type { Position } from '#language/diagnostic.ts';
import { fileText } from '../text/position-text.ts';

/** The commands of GitHub Actions in use; see "Workflow commands" in its documentation. */
type GithubCommandName = 'error' | 'warning' | 'group' | 'endgroup';

type GithubProperty = readonly [name: string, value: string];

/** Formats a workflow command of GitHub Actions, `::error file=etl.yaml,line=7::exit 3`, without a line break. */
export function githubCommand(
  name: GithubCommandName,
  message: string,
  properties: readonly GithubProperty[] = [],
): string {
  const list = properties
    .map(([key, value]) => `${key}=${escapeData(value).replaceAll(':', '%3A').replaceAll(',', '%2C')}`)
    .join(',');
  return `::${name}${list === '' ? '' : ` ${list}`}::${escapeData(message)}`;
}

/**
 * The properties that show an annotation at a place; the file is named relative to `cwd` (null: never). GitHub's end
 * column is the last one that belongs to the range, and given only for a range within one line.
 */
export function githubPosition(
  { file, start, end }: Pick<Position, 'file' | 'start'> & Partial<Position>,
  cwd: string | null,
): readonly GithubProperty[] {
  const endColumn = end && Math.max(start.column, end.column - 1);
  return [
    ...(file === '-' ? [] : [['file', fileText(file, cwd)] as const]),
    ['line', String(start.line)],
    ['col', String(start.column)],
    ...(end ? [['endLine', String(end.line)] as const] : []),
    ...(end?.line === start.line ? [['endColumn', String(endColumn)] as const] : []),
  ];
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
