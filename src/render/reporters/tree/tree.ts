import type { ChalkInstance } from 'chalk';
import type { StoredEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { failuresIn } from '../../text/failures.ts';
import { escapeControls } from '../../text/sanitize.ts';
import { chooseGlyphs, createColors, type Glyphs } from '../../text/terminal-style.ts';
import { formatDuration, formatElapsed } from '../../text/value-text.ts';
import { clusters, cut, textWidth } from '../../text/width.ts';
import { headerLine, type RecapOptions, renderRecap } from '../../views/recap.ts';
import type { OutputMode } from '../held-lines.ts';
import type { ChildReporter, ChildRun, OutputChunk, Prompt, Recap, Reporter, Terminal } from '../reporter.ts';
import {
  createFrames,
  createLiveRegion,
  createTerminalTitle,
  type FrameClock,
  type TerminalSigns,
  wrappedRows,
} from './live-region.ts';
import { type BranchContext, TreeBranch } from './tree-branch.ts';
import { activeLine, blockedLine, pendingLine, treeLine, waitingLine, withCount } from './tree-lines.ts';

/** The options of the tree reporter. */
export type TreeOptions = RecapOptions & {
  readonly clock: FrameClock;
  readonly output: OutputMode;
  readonly signs: TerminalSigns;
  /** A narrower window moves a row to its history for each row that wrapping adds, even if there is room below. */
  readonly pushesRows?: boolean;
};

/** Scrolled lines are written with the next frame, or earlier at this many characters. */
const FULL_SCROLL = 64 * 1024;

/** Shows a line and the output of each finished step above a live block of running ones; of a single step as it arrives. */
export function createTreeReporter(terminal: Terminal, options: TreeOptions): Reporter {
  let tree: Tree | null = null;
  return {
    wantsOutput: true,
    begin: (workflow, runId) => {
      tree = new Tree(workflow, runId, terminal, options);
    },
    event: (event) => tree?.event(event),
    output: (chunk) => tree?.output(chunk),
    child: (run) => tree?.child(run) ?? { event: () => undefined, output: () => undefined },
    prompt: (prompt) => tree?.prompt(prompt),
    estimate: (usualMs) => tree?.estimate(usualMs),
    end: (recap) => tree?.end(recap),
    abandon: () => tree?.abandon() ?? '',
  };
}

class Tree {
  readonly #workflow: Workflow;
  readonly #terminal: Terminal;
  readonly #options: TreeOptions;
  readonly #context: BranchContext;
  readonly #root: TreeBranch;
  readonly #region;
  readonly #frames;
  readonly #title;
  /** The steps whose output is above the block. */
  readonly #printed = new Set<string>();
  readonly #stopsListening: () => void;
  #scrolled = '';
  /** The rows that are at least above the block in the window, and the width of the window, when it was last painted. */
  #above = 0;
  #columns: number;
  #prompt: Prompt | null = null;
  #frame = 0;
  #usualMs: number | null = null;

  constructor(workflow: Workflow, runId: string, terminal: Terminal, options: TreeOptions) {
    this.#workflow = workflow;
    this.#terminal = terminal;
    this.#options = options;
    const style = { colors: createColors(terminal.color), glyphs: chooseGlyphs(terminal.unicode) };
    this.#context = {
      style,
      columns: () => terminal.size().columns,
      mode: options.output,
      keepsColors: terminal.stripsColors !== true,
      commands: options.commands,
      printed: (run, step) => this.#printed.add(`${run} ${step}`),
    };
    this.#root = new TreeBranch({ workflow, runId, depth: 0 }, this.#context, (line) => this.#scroll(line));
    this.#region = createLiveRegion(terminal);
    this.#columns = terminal.size().columns;
    this.#title = createTerminalTitle(workflow.name, options.signs);
    this.#frames = createFrames(options.clock, () => this.#paint());
    this.#stopsListening = terminal.onResize?.(() => this.#frames.hold()) ?? (() => undefined);
  }

  event(event: StoredEvent): void {
    if (event.type === 'run.created') this.#scroll(headerLine(this.#workflow, event, this.#terminal));
    if (event.type === 'run.warned')
      this.#scroll(`${this.#context.style.colors.yellow('warning:')} ${escapeControls(event.message)}`);
    this.#root.event(event);
    this.#frames.request();
  }

  output(chunk: OutputChunk): void {
    this.#root.output(chunk);
    this.#frames.request();
  }

  child({ path, runId, workflow }: ChildRun): ChildReporter {
    const parent = path.slice(0, -1).reduce<TreeBranch>((branch, step) => branch.nestedOf(step) ?? branch, this.#root);
    const branch = parent.child(path.at(-1) ?? '', { workflow, runId });
    return {
      event: (event) => {
        branch.event(event);
        this.#frames.request();
      },
      output: (chunk) => {
        branch.output(chunk);
        this.#frames.request();
      },
    };
  }

  /** Repaints at once, so that typing is not delayed. */
  prompt(prompt: Prompt | null): void {
    this.#prompt = prompt;
    this.#paint();
  }

  estimate(usualMs: number): void {
    this.#usualMs = usualMs;
    this.#frames.request();
  }

  end(recap: Recap): void {
    this.#stop();
    this.#root.end();
    this.#region.draw(this.#takeScrolled(), []);
    this.#region.close();
    this.#terminal.write(this.#title.restore() + renderRecap(this.#shortened(recap), this.#terminal, this.#options));
  }

  /** Leaves out the lines of failures that are printed below their step. */
  #shortened(recap: Recap): Recap {
    const { failures, moreFailures } = failuresIn(recap.summary);
    const left = failures.map((one) => (this.#printed.has(`${one.runId} ${one.step}`) ? { ...one, lines: [] } : one));
    return { ...recap, summary: { ...recap.summary, failures: left, moreFailures } };
  }

  abandon(): string {
    this.#stop();
    return this.#region.abandon() + this.#title.restore();
  }

  #stop(): void {
    this.#frames.stop();
    this.#stopsListening();
  }

  #paint(): { showsTime: boolean } {
    const { rows, columns } = this.#terminal.size();
    if (this.#frames.isHeld()) return { showsTime: true };
    this.#pushRows(columns);
    const scrolled = this.#takeScrolled();
    const prompt = this.#prompt === null ? [] : promptLines(this.#prompt, columns, this.#context.style);
    const moment = {
      now: this.#options.clock.now(),
      frame: this.#frame++,
      rows: rows - prompt.length,
      above:
        this.#options.pushesRows === true ? this.#above - wrappedRows(prompt, LEAST_COLUMNS) + prompt.length : null,
      usualMs: this.#usualMs,
    };
    this.#region.draw(scrolled, [...treeBlock(this.#root, moment), ...prompt.slice(-Math.max(1, rows - 2))]);
    const { view } = this.#root;
    const title = this.#title.show(view);
    if (title !== '') this.#terminal.write(title);
    return { showsTime: view.active.size + view.waiting.size > 0 };
  }

  #scroll(line: string): void {
    this.#scrolled += `${line}\n`;
    if (this.#scrolled.length >= FULL_SCROLL) this.#region.draw(this.#takeScrolled(), []);
  }

  #takeScrolled(): string {
    const scrolled = this.#scrolled;
    this.#scrolled = '';
    this.#above += scrolled.split('\n').length - 1;
    return scrolled;
  }

  /** A window that became narrower has moved a row out for each row that wrapping adds to the block. */
  #pushRows(columns: number): void {
    const rows = this.#region.rowsIn(columns);
    const added = rows - this.#region.rowsIn(this.#columns);
    this.#above = Math.max(0, Math.min(this.#above - added, this.#terminal.size().rows - 1 - rows));
    this.#columns = columns;
  }
}

type TreeMoment = {
  readonly now: number;
  /** The number of the frame, for the spinners. */
  readonly frame: number;
  /** The height of the terminal in lines. */
  readonly rows: number;
  /** The rows above the block that a narrower window may move out of the window; null: it moves none while there is room. */
  readonly above: number | null;
  /** The usual duration of the workflow; null: unknown. */
  readonly usualMs: number | null;
};

/** Only the next few pending steps and the last few finished steps of a child run get a line. */
const MOST_PENDING = 5;
const MOST_ENDED = 5;

/** A window may become as narrow as this where rows are pushed, and else half as wide. */
const LEAST_COLUMNS = 40;

/**
 * Renders the live block: running steps, waiting steps, the next ones, and a line of counts for the rest. Its details are cut
 * as far as it would not fit a narrower window (`leastColumns`): rows that wrapping moves out of the window could not be
 * erased.
 */
function treeBlock(root: TreeBranch, moment: TreeMoment): readonly string[] {
  if (moment.rows < 3) return [];
  const { columns } = root.room();
  const least = Math.min(columns, LEAST_COLUMNS);
  const narrowest = moment.above === null ? Math.max(Math.floor(columns / 2), least) : least;
  const fits = (block: readonly string[]) => {
    const wrapped = wrappedRows(block, narrowest);
    return wrapped < moment.rows && wrapped - block.length <= (moment.above ?? Number.POSITIVE_INFINITY);
  };
  for (let width = columns; width > narrowest; width = narrowest * (Math.ceil(width / narrowest) - 1)) {
    const block = blockLines(root, { ...moment, width });
    if (fits(block)) return block;
  }
  const block = blockLines(root, { ...moment, width: narrowest });
  const withCounts = [...block.slice(0, -1), countLine(root, { ...moment, width: columns })];
  return fits(withCounts) ? withCounts : block;
}

type BlockMoment = TreeMoment & { readonly width: number };

function blockLines(root: TreeBranch, moment: BlockMoment): readonly string[] {
  const lines: string[] = [];
  const isFull = () => lines.length >= moment.rows - 3;
  addRunning(root, moment, lines, isFull);
  let pending = 0;
  for (const name of root.view.isStopping ? [] : root.view.pending) {
    if (isFull() || pending++ === MOST_PENDING) break;
    lines.push(treeLine(pendingLine(name, root.view, root.style), root.room(moment.width)));
  }
  return [...lines, countLine(root, moment)];
}

/** Renders the active steps, each followed by the steps of its child run. */
function addRunning(branch: TreeBranch, moment: BlockMoment, lines: string[], isFull: () => boolean): void {
  const { view, style, nested, showsOutput } = branch;
  const { spinner, bar } = style.glyphs;
  const room = branch.room(moment.width);
  if (view.blocked !== null && !isFull()) lines.push(treeLine(blockedLine(view.blocked, style), room));
  for (const step of view.active.values()) {
    if (isFull()) return;
    const child = nested.get(step.name);
    // Complete lines are shown anyway.
    const last = showsOutput || child !== undefined ? step.lastLine.unfinished() : step.lastLine.text();
    const note = [...(view.late.has(step.name) ? ['late'] : []), ...(last === '' ? [] : [`${bar} ${last}`])].join('  ');
    const line = activeLine(
      step,
      { now: moment.now, glyph: spinner[moment.frame % spinner.length] ?? '', note },
      style,
    );
    lines.push(treeLine(child?.isFanOut === true ? withCount(line, child.view) : line, room));
    if (child === undefined) continue;
    const inner = child.room(moment.width);
    for (const row of child.rows.slice(-MOST_ENDED)) if (!isFull()) lines.push(treeLine(row, inner));
    addRunning(child, moment, lines, isFull);
  }
  for (const step of view.waiting.values()) {
    if (isFull()) return;
    lines.push(treeLine(waitingLine(step, moment.now, style), room));
  }
}

/** `  3/8 · 2 running · 1 waiting   12s of ~2m05s   Ctrl-C stops`. */
function countLine(root: TreeBranch, { now, usualMs, width }: BlockMoment): string {
  const { view, style } = root;
  const { ellipsis } = root.room();
  const waiting = view.pending.size + view.waiting.size;
  const counts = [
    `${view.done}/${view.total}`,
    ...(view.active.size > 0 ? [`${view.active.size} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(view.failed > 0 ? [`${view.failed} failed`] : []),
    ...(view.isLate ? ['late'] : []),
  ].join(style.glyphs.separator);
  const usual = usualMs === null ? '' : ` of ~${formatDuration(usualMs)}`;
  const elapsed = view.startedAt === null ? [] : [formatElapsed(now - view.startedAt) + usual];
  const stop = view.isStopping ? `stopping${ellipsis} Ctrl-C again kills` : 'Ctrl-C stops';
  return style.colors.dim(cut(`  ${[counts, ...elapsed, stop].join('   ')}`, width - 1, ellipsis));
}

/** Renders a question below the live block: the question, the fault of the last answer, and the line being typed, if any. */
export function promptLines(
  { question, fault, label, typed, cursor }: Prompt,
  columns: number,
  { colors, glyphs }: { readonly colors: ChalkInstance; readonly glyphs: Pick<Glyphs, 'ellipsis'> },
): readonly string[] {
  const line = (text: string) => cut(escapeControls(text), columns - 1, glyphs.ellipsis);
  const asked = [colors.bold(line(question)), ...(fault === null ? [] : [colors.yellow(line(fault))])];
  if (label === null) return asked;
  const head = cut(`${escapeControls(label)} `, Math.max(0, columns - 8), glyphs.ellipsis);
  const room = Math.max(1, columns - 2 - textWidth(head));
  const before = lastCells(escapeControls(typed.slice(0, cursor)), room - 1);
  const [at = '', ...rest] = [...clusters(escapeControls(typed.slice(cursor)))].map(({ text }) => text);
  const after = cut(rest.join(''), Math.max(0, room - textWidth(before + at)), '');
  return [...asked, `${head}${before}${cursorOn(at, colors)}${after}`];
}

/** The live view hides the cursor of the terminal. */
function cursorOn(text: string, colors: ChalkInstance): string {
  if (colors.level === 0) return text === '' ? '_' : text;
  return colors.inverse(text === '' ? ' ' : text);
}

function lastCells(text: string, cells: number): string {
  const parts = [...clusters(text)];
  let width = parts.reduce((sum, part) => sum + part.width, 0);
  while (width > Math.max(0, cells)) width -= parts.shift()?.width ?? width;
  return parts.map((part) => part.text).join('');
}
