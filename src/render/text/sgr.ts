import { clusters, textWidth } from './width.ts';

/** The active colours of a stream, by attribute (foreground, background, bold...). */
export type SgrState = Map<string, string>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences themselves
const PATTERN = /\u{1b}\[([0-9;:]*)m/gu;
/** Larger numbers are undefined; keeping them would let a program fill the memory. */
const HIGHEST_CODE = 107;
const RESET = '\u001b[0m';
const TAB_WIDTH = 8;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences themselves
const SEPARATORS = /(\u{1b}\[[0-9;:]*m|\t)/u;

/** The attributes that each closing code resets. */
const closers: { readonly [code: number]: readonly string[] } = {
  22: ['1', '2'],
  23: ['3', '20'],
  24: ['4', '21'],
  25: ['5', '6'],
  27: ['7'],
  28: ['8'],
  29: ['9'],
  39: ['fg'],
  49: ['bg'],
  55: ['53'],
  59: ['58'],
};

/** Starts a line with the active colours and resets them at its end; updates `open` for the next line of the stream. */
export function isolateColors(line: string, open: SgrState): string {
  if (open.size === 0 && !line.includes('\u001b')) return line;
  const before = opening(open);
  for (const found of line.matchAll(PATTERN)) applySgr(found[1] ?? '', open);
  return open.size > 0 ? `${before}${line}${RESET}` : before + line;
}

/** Breaks a line of output into rows of at most `cells`, each with its own colours; tabs become spaces. */
export function breakRows(line: string, cells: number): string[] {
  if (!SEPARATORS.test(line) && textWidth(line) <= cells) return [line];
  const rows: string[] = [];
  const open: SgrState = new Map();
  let row = '';
  let column = 0;
  let width = 0;
  for (const part of line.split(SEPARATORS)) {
    if (part.startsWith('\u001b')) {
      applySgr(part.slice(2, -1), open);
      row += part;
      continue;
    }
    for (const cluster of clusters(part === '\t' ? ' '.repeat(TAB_WIDTH - (column % TAB_WIDTH)) : part)) {
      if (width + cluster.width > cells) {
        rows.push(open.size > 0 ? row + RESET : row);
        row = opening(open);
        width = 0;
      }
      row += cluster.text;
      width += cluster.width;
      column += cluster.width;
    }
  }
  return [...rows, row];
}

function opening(open: SgrState): string {
  return [...open.values()].map((code) => `\u001b[${code}m`).join('');
}

/** Updates `open` by the numbers of one sequence (`1;38;5;196`). */
export function applySgr(codes: string, open: SgrState): void {
  const parts = codes.split(';');
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? '';
    const code = Number.parseInt(part || '0', 10);
    const extra = part.includes(':') ? 0 : extendedLength(code, parts[index + 1]);
    applyOne(code, parts.slice(index, index + 1 + extra).join(';'), open);
    index += extra;
  }
}

/** Returns the count of numbers that follow 38, 48 or 58: `5;n` or `2;r;g;b`. */
function extendedLength(code: number, next: string | undefined): number {
  if (code !== 38 && code !== 48 && code !== 58) return 0;
  return next === '5' ? 2 : next === '2' ? 4 : 0;
}

function applyOne(code: number, text: string, open: SgrState): void {
  const closed = closers[code];
  if (code === 0) open.clear();
  else if (closed) for (const attribute of closed) open.delete(attribute);
  else if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) open.set('fg', text);
  else if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) open.set('bg', text);
  else if (code <= HIGHEST_CODE) open.set(String(code), text);
}
