import { escapeControls, stripControls } from '../../text/sanitize.ts';
import { clusters, cut, textWidth } from '../../text/width.ts';
import type { Terminal } from '../reporter.ts';
import type { TreeView } from './tree-view.ts';

const SHOW_CURSOR = '\u001b[?25h';
const HIDE_CURSOR = '\u001b[?25l';
const ERASE_RIGHT = '\u001b[K';
/** Not from the first cell: some terminals take an erasure of the whole window for clearing and move it to their history. */
const eraseBelow = `${ERASE_RIGHT}\u001b[C\u001b[J\r`;

/**
 * The lower end of a terminal: lines that scroll up and stay, above a block that is repainted. Lines of the block must be
 * narrower than the terminal and contain only text and colours.
 */
export function createLiveRegion(terminal: Pick<Terminal, 'write' | 'size'>) {
  let drawn: readonly string[] = [];
  let drawnColumns = 0;
  let isHidden = false;

  /** Writes `scrolled` (complete lines) above the block and repaints the block; writes only changes. */
  const draw = (scrolled: string, block: readonly string[]) => {
    if (scrolled === '' && isSame(block, drawn)) return;
    const { columns } = terminal.size();
    const rows = wrappedRows(drawn, columns);
    const up = rows === 0 ? '' : `\r\u001b[${rows}A`;
    const hide = block.length > 0 && !isHidden ? HIDE_CURSOR : '';
    isHidden ||= block.length > 0;
    // Rows that the terminal has wrapped stay marked as such until they are erased.
    const isSameSize = columns === drawnColumns;
    drawn = block;
    drawnColumns = columns;
    // Overwriting line by line flickers least. Scrolled lines can be wider than the terminal, where erasing to the right
    // would remove the last character.
    const painted =
      scrolled === '' && isSameSize
        ? block.map((line) => `${line}${ERASE_RIGHT}\n`).join('') + eraseBelow
        : eraseBelow + scrolled + block.map((line) => `${line}\n`).join('');
    terminal.write(hide + up + painted);
  };
  const close = () => {
    draw('', []);
    terminal.write(abandon());
  };
  const abandon = () => {
    const text = isHidden ? SHOW_CURSOR : '';
    isHidden = false;
    return text;
  };
  /** Returns the rows of the block in a window of this width, whose terminal wraps the lines that do not fit. */
  const rowsIn = (columns: number) => wrappedRows(drawn, columns);
  return { draw, rowsIn, close, abandon };
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

/** A clock with timers; `setTimer` calls back once at the given time and returns a function that cancels the timer. */
export type FrameClock = {
  readonly now: () => number;
  readonly setTimer: (at: number, callback: () => void) => () => void;
};

const BETWEEN_FRAMES_MS = 100;
const BETWEEN_TICKS_MS = 1000;
const SETTLING_MS = 300;

/** Paints at most ten times a second, and once a second without a request while `paint` returns that a time is visible. */
export function createFrames(clock: FrameClock, paint: () => { readonly showsTime: boolean }) {
  let paintedAt = clock.now();
  let next: { readonly at: number; readonly cancel: () => void } | null = null;
  let heldUntil = 0;
  let stopped = false;

  const schedule = (at: number) => {
    if (stopped || (next !== null && next.at <= at)) return;
    next?.cancel();
    next = { at, cancel: clock.setTimer(at, frame) };
  };
  const frame = () => {
    next = null;
    if (stopped) return;
    paintedAt = clock.now();
    if (paint().showsTime) schedule(paintedAt + BETWEEN_TICKS_MS);
  };
  return {
    request: () => {
      const now = clock.now();
      // A clock that was set back must not delay the frame.
      schedule(Math.max(now, Math.min(paintedAt, now) + BETWEEN_FRAMES_MS, Math.min(heldUntil, now + SETTLING_MS)));
    },
    /** Delays frames until 300 ms have passed without a call: the size of a window that is being resized is not reported at once. */
    hold: () => {
      heldUntil = clock.now() + SETTLING_MS;
      next?.cancel();
      next = null;
      schedule(heldUntil);
    },
    isHeld: () => heldUntil - SETTLING_MS <= clock.now() && clock.now() < heldUntil,
    stop: () => {
      stopped = true;
      next?.cancel();
      next = null;
    },
  };
}

/** The features of a terminal: a window title (OSC 0) and progress in its task bar or tab (OSC 9;4). */
export type TerminalSigns = { readonly title: boolean; readonly progress: boolean };

type RunProgress = Pick<TreeView, 'done' | 'total' | 'failed' | 'isStopping'>;

const WIDEST_TITLE = 60;
const KEEP_TITLE = '\u001b[22;0t';
const GIVE_TITLE_BACK = '\u001b[23;0t';

/** The title and the progress of a terminal; one that cannot save its title gets an empty one at the end. */
export function createTerminalTitle(workflow: string, { title, progress }: TerminalSigns) {
  const name = cut(escapeControls(workflow), WIDEST_TITLE, '...');
  let shown = '';
  const osc = (text: string) => `\u001b]${text}\u0007`;
  return {
    show: ({ done, total, failed, isStopping }: RunProgress) => {
      // 1: normal, 2: a step failed, 4: paused.
      const state = isStopping ? 4 : failed > 0 ? 2 : 1;
      const percent = total === 0 ? 0 : Math.floor((100 * done) / total);
      const texts = [
        ...(title ? [osc(`0;${done}/${total} ${name}`)] : []),
        ...(progress ? [osc(`9;4;${state};${percent}`)] : []),
      ].join('');
      if (texts === shown) return '';
      const before = shown === '' && title ? KEEP_TITLE : '';
      shown = texts;
      return before + texts;
    },
    restore: () => {
      if (shown === '') return '';
      shown = '';
      return (progress ? osc('9;4;0;0') : '') + (title ? osc('0;') + GIVE_TITLE_BACK : '');
    },
  };
}
