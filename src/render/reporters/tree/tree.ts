import type { StoredEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { createColors } from '../../text/colors.ts';
import { failuresIn } from '../../text/failures.ts';
import { chooseGlyphs } from '../../text/glyphs.ts';
import { escapeControls } from '../../text/sanitize.ts';
import { suggestLogs } from '../../text/suggested-commands.ts';
import { textWidth } from '../../text/width.ts';
import { headerLine } from '../../views/header.ts';
import { type RecapOptions, renderRecap } from '../../views/recap.ts';
import { createFrames, type FrameClock } from '../frames.ts';
import type { OutputMode } from '../left-output.ts';
import type { ChildReporter, ChildRun, OutputChunk, Prompt, Recap, Reporter, Terminal } from '../reporter.ts';
import { createLiveRegion } from './live-region.ts';
import { promptLines } from './prompt-lines.ts';
import { createTerminalTitle, type TerminalSigns } from './terminal-title.ts';
import { treeBlock } from './tree-block.ts';
import { type BranchContext, TreeBranch } from './tree-branch.ts';

/** The options of the tree reporter. */
export type TreeOptions = RecapOptions & {
  readonly clock: FrameClock;
  readonly output: OutputMode;
  readonly signs: TerminalSigns;
  /** A narrower window moves rows to its history for each row that is wrapped, even if there is room below them. */
  readonly pushesRows?: boolean;
};

/** Scrolled lines are written with the next frame, or earlier at this many characters. */
const fullScroll = 64 * 1024;

/**
 * Creates the reporter for a terminal: one line per step. Finished steps scroll up and stay, with their output; a live block
 * below them shows the running steps, their last lines of output, and counts. The output of a single step is shown as it
 * arrives.
 */
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
  /** The number of lines above the block since the last change of the window's size. */
  #above = 0;
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
      restHint: (count, run, step) => this.#restHint(count, run, step),
      printed: (run, step) => this.#printed.add(`${run} ${step}`),
    };
    this.#root = new TreeBranch({ workflow, runId, depth: 0 }, this.#context, (line) => this.#scroll(line));
    this.#region = createLiveRegion(terminal);
    this.#title = createTerminalTitle(options.signs);
    this.#frames = createFrames(options.clock, () => this.#paint());
    this.#stopsListening = terminal.onResize?.(() => this.#resize()) ?? (() => undefined);
  }

  event(event: StoredEvent): void {
    if (event.type === 'run.created') this.#scroll(headerLine(this.#workflow, event, this.#terminal));
    if (event.type === 'run.warned') this.#scroll(this.#warning(event.message));
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

  #resize(): void {
    this.#above = 0;
    this.#frames.hold();
  }

  #paint(): { showsTime: boolean } {
    const { rows, columns } = this.#terminal.size();
    if (this.#frames.isHeld()) return { showsTime: true };
    const prompt = this.#prompt === null ? [] : promptLines(this.#prompt, columns, this.#context.style);
    const moment = {
      now: this.#options.clock.now(),
      frame: this.#frame++,
      rows: rows - prompt.length,
      above: this.#options.pushesRows === true ? this.#above : Number.POSITIVE_INFINITY,
      usualMs: this.#usualMs,
    };
    this.#region.draw(this.#takeScrolled(), [
      ...treeBlock(this.#root, moment),
      ...prompt.slice(-Math.max(1, rows - 2)),
    ]);
    const { active, waiting, done, total, failed, isStopping } = this.#root.view;
    const { name } = this.#workflow;
    const title = this.#title.show({ name, done, total, hasFailed: failed > 0, isStopping });
    if (title !== '') this.#terminal.write(title);
    return { showsTime: active.size + waiting.size > 0 };
  }

  #warning(message: string): string {
    return `${this.#context.style.colors.yellow('warning:')} ${escapeControls(message)}`;
  }

  /** Leaves out the command if the terminal would break it or the run is not stored. */
  #restHint(count: number, runId: string, step: string): string {
    const { commands } = this.#options;
    const { columns, style } = { columns: this.#terminal.size().columns, style: this.#context.style };
    const text = `${style.glyphs.ellipsis} ${count} ${count === 1 ? 'line' : 'lines'} more`;
    const whole = `${text}: ${suggestLogs(runId, step, commands.options)}`;
    return commands.logs && textWidth(whole) + 6 < columns ? whole : text;
  }

  #scroll(line: string): void {
    this.#scrolled += `${line}\n`;
    this.#above++;
    if (this.#scrolled.length >= fullScroll) this.#region.draw(this.#takeScrolled(), []);
  }

  #takeScrolled(): string {
    const scrolled = this.#scrolled;
    this.#scrolled = '';
    return scrolled;
  }
}
