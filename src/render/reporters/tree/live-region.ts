import { stripControls } from '../../text/sanitize.ts';
import { clusters, textWidth } from '../../text/width.ts';
import type { Terminal } from '../reporter.ts';

/** The lower end of a terminal: lines that scroll up and stay, above a block that is repainted. */
export type LiveRegion = {
  /** Writes `scrolled` (complete lines) above the block and repaints the block; writes only changes. */
  readonly draw: (scrolled: string, block: readonly string[]) => void;
  /** Removes the block and shows the cursor. */
  readonly close: () => void;
  /** Returns the text that shows the cursor and leaves the block. */
  readonly abandon: () => string;
};

const showCursor = '\u001b[?25h';
const hideCursor = '\u001b[?25l';
const eraseRight = '\u001b[K';
/** Not from the first cell: some terminals take an erasure of the whole window for clearing and move it to their history. */
const eraseBelow = `${eraseRight}\u001b[C\u001b[J\r`;

/** Lines of a block must be narrower than the terminal and contain only text and colours. */
export function createLiveRegion(terminal: Pick<Terminal, 'write' | 'size'>): LiveRegion {
  let drawn: readonly string[] = [];
  let drawnColumns = 0;
  let isHidden = false;

  const draw = (scrolled: string, block: readonly string[]) => {
    if (scrolled === '' && isSame(block, drawn)) return;
    const { columns } = terminal.size();
    const up = cursorUp(wrappedRows(drawn, columns));
    const hide = block.length > 0 && !isHidden ? hideCursor : '';
    isHidden ||= block.length > 0;
    // Rows that the terminal has wrapped stay marked as such until they are erased.
    const isSameSize = columns === drawnColumns;
    drawn = block;
    drawnColumns = columns;
    terminal.write(hide + up + (scrolled === '' && isSameSize ? paintOver(block) : paintBelow(scrolled, block)));
  };
  const close = () => {
    draw('', []);
    terminal.write(abandon());
  };
  const abandon = () => {
    const text = isHidden ? showCursor : '';
    isHidden = false;
    return text;
  };
  return { draw, close, abandon };
}

/** Overwrites line by line, so that nothing flickers. */
function paintOver(block: readonly string[]): string {
  return block.map((line) => `${line}${eraseRight}\n`).join('') + eraseBelow;
}

/** Scrolled lines can be wider than the terminal, where erasing to the right would remove the last character. */
function paintBelow(scrolled: string, block: readonly string[]): string {
  return eraseBelow + scrolled + block.map((line) => `${line}\n`).join('');
}

function cursorUp(rows: number): string {
  return rows === 0 ? '' : `\r\u001b[${rows}A`;
}

/** Returns the rows of a block after its terminal has wrapped the lines that do not fit its width. */
export function wrappedRows(block: readonly string[], columns: number): number {
  return block.reduce((rows, line) => rows + rowsOf(stripControls(line), columns), 0);
}

/** A wide character with room for only half of it starts the next row. */
function rowsOf(text: string, columns: number): number {
  if (textWidth(text) <= columns) return 1;
  let rows = 1;
  let column = 0;
  for (const { width } of clusters(text)) {
    if (column + width > columns) {
      rows++;
      column = 0;
    }
    column += width;
  }
  return rows;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}
