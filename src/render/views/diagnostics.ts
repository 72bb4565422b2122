import type { Diagnostic, Source } from '#language/diagnostic.ts';
import { githubCommand, githubPlace } from '../reporters/github/github-command.ts';
import { createColors } from '../text/colors.ts';
import { chooseGlyphs } from '../text/glyphs.ts';
import { placeText } from '../text/place-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { codeFrame, type FrameStyle, type SourceLines, sourceLines } from './code-frame.ts';

/** The style of diagnostics. File names are relative to `cwd`. */
export type DiagnosticOptions = { readonly color: boolean; readonly unicode: boolean; readonly cwd: string };

const frameWidth = 100;

/**
 * Renders every problem with a frame of the source for each position, in the order of files and positions, then one line of
 * counts. Control characters of the files are escaped. Empty without diagnostics, else it ends with a line break.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: readonly Source[],
  options: DiagnosticOptions,
): string {
  if (diagnostics.length === 0) return '';
  const lines = new Map(sources.map((source) => [source.path, sourceLines(source)]));
  const sorted = inOrder(diagnostics, sources);
  const blocks = sorted.map((diagnostic) => diagnosticLines(diagnostic, lines, options).join('\n'));
  return `${blocks.join('\n\n')}\n\n${countLine(diagnostics, sources)}\n`;
}

function inOrder(diagnostics: readonly Diagnostic[], sources: readonly Source[]): readonly Diagnostic[] {
  const files = new Map(sources.map((source, index) => [source.path, index]));
  const key = ({ place, code }: Diagnostic): [number, number, number] => {
    // The count of further problems follows the shown ones.
    if (place === null) return [code === 'more-problems' ? sources.length + 1 : -1, 0, 0];
    return [files.get(place.file) ?? sources.length, place.start.line, place.start.column];
  };
  return diagnostics
    .map((diagnostic) => ({ diagnostic, key: key(diagnostic) }))
    .sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1] || a.key[2] - b.key[2])
    .map(({ diagnostic }) => diagnostic);
}

function diagnosticLines(
  diagnostic: Diagnostic,
  sources: ReadonlyMap<string, SourceLines>,
  { color, unicode, cwd }: DiagnosticOptions,
): readonly string[] {
  const { severity, message, place, related, importedFrom, help } = diagnostic;
  const colors = createColors(color);
  const style = { colors, glyphs: chooseGlyphs(unicode), cwd, width: frameWidth, gutter: gutterOf(diagnostic) };
  const paint = severity === 'error' ? colors.red : colors.yellow;
  const indent = ' '.repeat(style.gutter + 1);
  const frames = [
    ...(place === null ? [] : [{ place, label: diagnostic.label, mark: '^' as const, color: paint }]),
    ...related.map((other) => ({ place: other.place, label: other.message, mark: '-' as const, color: colors.blue })),
  ];
  return [
    `${colors.bold(paint(severity))}${colors.bold(`: ${escapeControls(message)}`)}`,
    ...frames.flatMap((frame) => codeFrame(frame, sources.get(frame.place.file), style)),
    ...importLines(importedFrom, style).map((line) => indent + line),
    ...(help === null ? [] : [`${indent}${colors.cyan('help:')} ${escapeControls(help)}`]),
  ];
}

function gutterOf({ place, related }: Diagnostic): number {
  const lines = [place, ...related.map((other) => other.place)].map((found) => found?.start.line ?? 1);
  return Math.max(...lines.map((line) => String(line).length));
}

/** Renders the chain of imports from the root file to the file of the problem, innermost last. */
function importLines(importedFrom: Diagnostic['importedFrom'], { cwd, colors }: FrameStyle): readonly string[] {
  return importedFrom.map(
    (place, index) => `${colors.dim(index === 0 ? 'imported at' : 'then at')} ${placeText(place, cwd)}`,
  );
}

/** Counts all problems, shown or not: `2 errors, 1 warning in 1 file`. A problem without a position belongs to the root file. */
function countLine(diagnostics: readonly Diagnostic[], sources: readonly Source[]): string {
  const shown = diagnostics.filter(({ code }) => code !== 'more-problems');
  const unshown = diagnostics.flatMap((diagnostic) => diagnostic.unshown ?? []);
  // A missing file has no source either: its message tells it apart.
  const files = new Set([
    ...shown.map(({ place, code, message }) => place?.file ?? (code === 'not-found' ? message : sources[0]?.path)),
    ...unshown.flatMap((more) => more.files),
  ]);
  const shownErrors = shown.filter(({ severity }) => severity === 'error').length;
  const errors = unshown.reduce((sum, more) => sum + more.errors, shownErrors);
  const warnings = unshown.reduce((sum, more) => sum + more.warnings, shown.length - shownErrors);
  const counts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  return `${counts.join(', ')} in ${counted(files.size, 'file')}`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/**
 * A diagnostic as a workflow command of GitHub Actions, which shows it at its line of the file:
 * `::error file=etl.yaml,line=7,col=5,endLine=7,endColumn=10,title=unknown-key::unknown key "comand"`, without a
 * line end. Files are named relative to `cwd`; without one they stay absolute, which GitHub understands as well.
 */
export function githubAnnotation(
  diagnostic: Diagnostic,
  { cwd = null }: { readonly cwd?: string | null } = {},
): string {
  const { severity, code, message, place, label, related, help } = diagnostic;
  const properties = [...(place === null ? [] : githubPlace(place, cwd)), ['title', code] as const];
  const text = [
    label === '' ? message : `${message} (${label})`,
    ...related.map((other) => `${placeText(other.place, cwd)}: ${other.message}`),
    ...(help === null ? [] : [`help: ${help}`]),
  ]
    .map(escapeControls)
    .join('\n');
  return githubCommand(severity, text, properties);
}
