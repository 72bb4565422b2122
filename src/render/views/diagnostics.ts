import type { ChalkInstance } from 'chalk';
import type { Diagnostic, Position, Source } from '#language/diagnostic.ts';
import { githubCommand, githubPosition } from '../reporters/github-command.ts';
import { positionText } from '../text/position-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { chooseGlyphs, createColors, type Glyphs } from '../text/terminal-style.ts';
import { counted } from '../text/value-text.ts';
import { type Cluster, clusters } from '../text/width.ts';

/** The style of diagnostics. File names are relative to `cwd`. */
type DiagnosticOptions = { readonly color: boolean; readonly unicode: boolean; readonly cwd: string };

const FRAME_WIDTH = 100;

/** Renders every problem with frames of the source, in the order of files and positions, then a line of counts. */
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
  const key = ({ position, code }: Diagnostic): [number, number, number] => {
    // The count of further problems follows the shown ones.
    if (position === null) return [code === 'more-problems' ? sources.length + 1 : -1, 0, 0];
    return [files.get(position.file) ?? sources.length, position.start.line, position.start.column];
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
  const { severity, message, position, related, importedFrom, help } = diagnostic;
  const colors = createColors(color);
  const style = { colors, glyphs: chooseGlyphs(unicode), cwd, width: FRAME_WIDTH, gutter: gutterOf(diagnostic) };
  const paint = severity === 'error' ? colors.red : colors.yellow;
  const indent = ' '.repeat(style.gutter + 1);
  const frames = [
    ...(position === null ? [] : [{ position, label: diagnostic.label, mark: '^' as const, color: paint }]),
    ...related.map(({ position: at, message: label }) => {
      return { position: at, label, mark: '-' as const, color: colors.blue };
    }),
  ];
  return [
    `${colors.bold(paint(severity))}${colors.bold(`: ${escapeControls(message)}`)}`,
    ...frames.flatMap((frame) => codeFrame(frame, sources.get(frame.position.file), style)),
    ...importedFrom.map(
      (from, index) => `${indent}${colors.dim(index === 0 ? 'imported at' : 'then at')} ${positionText(from, cwd)}`,
    ),
    ...(help === null ? [] : [`${indent}${colors.cyan('help:')} ${escapeControls(help)}`]),
  ];
}

function gutterOf({ position, related }: Diagnostic): number {
  const lines = [position, ...related.map((other) => other.position)].map((found) => found?.start.line ?? 1);
  return Math.max(...lines.map((line) => String(line).length));
}

/** Counts all problems, shown or not: `2 errors, 1 warning in 1 file`. A problem without a position belongs to the root file. */
function countLine(diagnostics: readonly Diagnostic[], sources: readonly Source[]): string {
  const shown = diagnostics.filter(({ code }) => code !== 'more-problems');
  const unshown = diagnostics.flatMap((diagnostic) => diagnostic.unshown ?? []);
  // A missing file has no source either: its message tells it apart.
  const files = new Set([
    ...shown.map(
      ({ position, code, message }) => position?.file ?? (code === 'not-found' ? message : sources[0]?.path),
    ),
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

/**
 * A diagnostic as a workflow command of GitHub Actions, which shows it at its line of the file:
 * `::error file=etl.yaml,line=7,col=5,endLine=7,endColumn=10,title=unknown-key::unknown key "comand"`, without a
 * line end. Files are named relative to `cwd`; without one they stay absolute, which GitHub understands as well.
 */
export function githubAnnotation(
  diagnostic: Diagnostic,
  { cwd = null }: { readonly cwd?: string | null } = {},
): string {
  const { severity, code, message, position, label, related, help } = diagnostic;
  const properties = [...(position === null ? [] : githubPosition(position, cwd)), ['title', code] as const];
  const text = [
    label === '' ? message : `${message} (${label})`,
    ...related.map((other) => `${positionText(other.position, cwd)}: ${other.message}`),
    ...(help === null ? [] : [`help: ${help}`]),
  ]
    .map(escapeControls)
    .join('\n');
  return githubCommand(severity, text, properties);
}

type FrameStyle = {
  readonly colors: ChalkInstance;
  readonly glyphs: Glyphs;
  readonly cwd: string;
  /** The width in cells at which a line of source is cut around its mark. */
  readonly width: number;
  /** The width of the column of line numbers, equal for all frames of one problem. */
  readonly gutter: number;
};

/** A position to show, the label of its mark, and the symbol and colour of the mark. */
type Frame = {
  readonly position: Position;
  readonly label: string;
  readonly mark: '^' | '-';
  readonly color: (text: string) => string;
};

/** Renders the position, its line of source and the mark with its label; only the position if there is no source. */
function codeFrame(
  { position, label, mark, color }: Frame,
  source: SourceLines | undefined,
  style: FrameStyle,
): string[] {
  const { colors, glyphs, gutter } = style;
  const space = ' '.repeat(gutter);
  const text = escapeControls(label);
  const head = `${space} ${colors.dim(glyphs.corner)} ${positionText(position, style.cwd)}`;
  if (source === undefined) return [text === '' ? head : `${head} ${color(text)}`];
  const line = source.line(position.start.line);
  const shown = markLine(line, lineRange(line, position), style.width, glyphs.ellipsis);
  return [
    head,
    `${colors.dim(`${String(position.start.line).padStart(gutter)} ${glyphs.bar}`)} ${shown.text}`.trimEnd(),
    `${colors.dim(`${space} ${glyphs.bar}`)} ${' '.repeat(shown.before)}${color(`${mark.repeat(shown.length)} ${text}`.trimEnd())}`,
  ];
}

/** A range over several lines is marked to the end of its first. */
function lineRange(line: string, { start, end }: Position): LineRange {
  const from = Math.min(start.column - 1, line.length);
  return { from, to: end.line > start.line ? line.length : Math.min(end.column - 1, line.length) };
}

/** The lines of a file by number, from 1; a line beyond the end is empty. */
type SourceLines = { readonly line: (number: number) => string };

/** Splits a source once for all its frames, and only if there is a frame. */
function sourceLines(source: Source): SourceLines {
  let lines: readonly string[] | undefined;
  return {
    line: (number) => {
      lines ??= source.text.split(/\r\n|[\n\r]/);
      return lines[number - 1] ?? '';
    },
  };
}

/** The part of a line to mark, from code unit `from` up to `to`. */
type LineRange = { readonly from: number; readonly to: number };

/** Only this many code units on either side of a mark are processed, so that a huge line costs little. */
const REACH = 2000;

/**
 * Fits a line into `width` cells; a longer one is cut around the mark, with `ellipsis` (ASCII or one cell). Returns the cells
 * `before` the mark and its `length`, at least one.
 */
function markLine(line: string, range: LineRange, width: number, ellipsis: string) {
  const first = characterStart(line, Math.max(0, range.from - REACH));
  const last = characterStart(line, Math.min(line.length, range.from + REACH));
  const cells = lineCells(line.slice(first, last), first);
  const before = widthOf(cells.filter((cell) => cell.end <= range.from));
  const length = Math.max(1, widthOf(cells.filter((cell) => cell.end > range.from && cell.start < range.to)));
  if (first === 0 && last === line.length && widthOf(cells) <= width) return { text: textOf(cells), before, length };
  const left = first > 0 || before + Math.min(length, width / 2) > width - ellipsis.length ? ellipsis : '';
  const from = left === '' ? 0 : before - Math.floor(width / 4);
  const window = cellsWithin(cells, from, width - left.length - ellipsis.length);
  const right = window.reachesEnd && last === line.length ? '' : ellipsis;
  const start = left.length - window.column;
  const room = window.column + widthOf(window.cells) - before;
  const text = left + textOf(window.cells) + right;
  return { text, before: start + before, length: Math.max(1, Math.min(length, room)) };
}

/** Returns the cells that fit completely within `width` from column `from`, and the column of the first one. */
function cellsWithin(cells: readonly LineCell[], from: number, width: number) {
  let column = 0;
  let index = 0;
  for (; index < cells.length && column < from; index++) column += cells[index]?.width ?? 0;
  let end = index;
  for (let used = cells[end]?.width ?? 0; end < cells.length && used <= width; used += cells[end]?.width ?? 0) end++;
  return { cells: cells.slice(index, end), column, reachesEnd: end === cells.length };
}

/** Moves a position out of a surrogate pair. */
function characterStart(line: string, index: number): number {
  const code = line.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}

function widthOf(cells: readonly LineCell[]): number {
  return cells.reduce((width, cell) => width + cell.width, 0);
}

function textOf(cells: readonly LineCell[]): string {
  return cells.map((cell) => cell.text).join('');
}

/** A part of a displayed line of source. */
type LineCell = {
  readonly text: string;
  readonly width: number;
  /** Its range in the source, in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
};

const TAB_WIDTH = 4;

/** Converts a line of source, whose positions count from `from`: tabs become spaces, control characters visible. */
function lineCells(line: string, from: number): readonly LineCell[] {
  const cells: LineCell[] = [];
  let column = 0;
  let start = from;
  for (const cluster of clusters(line)) {
    const end = start + cluster.text.length;
    const { text, width } = shown(cluster, column);
    cells.push({ text, width, start, end });
    column += width;
    start = end;
  }
  return cells;
}

function shown(cluster: Cluster, column: number): Cluster {
  if (cluster.text === '\t') {
    const width = TAB_WIDTH - (column % TAB_WIDTH);
    return { text: ' '.repeat(width), width };
  }
  const text = escapeControls(cluster.text);
  // Escaped text is ASCII (or one replacement character), so its width is its length.
  return text === cluster.text ? cluster : { text, width: text.length };
}
