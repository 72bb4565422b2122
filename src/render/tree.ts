import type { SettledStatus, StoredEvent } from '../core/run.ts';
import type { Workflow } from '../core/workflow.ts';
import { createColors } from './colors.ts';
import { createFrames, type FrameClock } from './frames.ts';
import { chooseGlyphs } from './glyphs.ts';
import { headerLine } from './header.ts';
import { createLiveRegion } from './live-region.ts';
import { nodesByName } from './nodes.ts';
import { createOutputColors } from './output-colors.ts';
import { type RecapOptions, renderRecap } from './recap.ts';
import type { OutputChunk, Recap, Reporter, Terminal } from './reporter.ts';
import { escapeControls } from './sanitize.ts';
import { createStepLines, type OutputLine } from './step-lines.ts';
import { treeBlock } from './tree-block.ts';
import { treeLine } from './tree-line.ts';
import { finishedLine, type TreeStyle } from './tree-lines.ts';
import { TreeView } from './tree-view.ts';
import { textWidth } from './width.ts';

/** What the tree needs beside its terminal. */
export type TreeOptions = RecapOptions & { readonly clock: FrameClock };

/** From this many lines of finished steps on only failed ones get a line; the others are counted. */
const mostFinished = 100;
/** Lines that scroll are written with the next frame, or as soon as they are this many characters. */
const fullScroll = 64 * 1024;

/**
 * For a terminal: one line a step. Finished ones scroll up and stay, below them lives a block with what is running, the
 * last line of its output, and counts. A workflow of a single step shows all of its output, since nothing can mix with it.
 */
export function createTreeReporter(terminal: Terminal, options: TreeOptions): Reporter {
  let tree: Tree | null = null;
  return {
    wantsOutput: true,
    begin: (workflow) => {
      tree = new Tree(workflow, terminal, options);
    },
    event: (event) => tree?.event(event),
    output: (chunk) => tree?.output(chunk),
    end: (recap) => tree?.end(recap),
  };
}

class Tree {
  readonly #workflow: Workflow;
  readonly #terminal: Terminal;
  readonly #options: TreeOptions;
  readonly #style: TreeStyle;
  readonly #view: TreeView;
  readonly #region;
  readonly #frames;
  readonly #names: number;
  readonly #showsOutput: boolean;
  readonly #lines = createStepLines('overwrite');
  readonly #colors = createOutputColors();
  readonly #folded = new Map<SettledStatus, number>();
  #scrolled = '';
  #finished = 0;
  #frame = 0;

  constructor(workflow: Workflow, terminal: Terminal, options: TreeOptions) {
    this.#workflow = workflow;
    this.#terminal = terminal;
    this.#options = options;
    this.#style = {
      colors: createColors(terminal.color),
      glyphs: chooseGlyphs(terminal.unicode),
      steps: nodesByName(workflow),
    };
    this.#view = new TreeView(workflow);
    this.#region = createLiveRegion(terminal);
    this.#frames = createFrames(options.clock, () => this.#paint());
    this.#names = workflow.steps.reduce((widest, step) => Math.max(widest, textWidth(escapeControls(step.name))), 0);
    this.#showsOutput = workflow.steps.length === 1;
  }

  event(event: StoredEvent): void {
    if (event.type === 'run.created') this.#scroll(headerLine(this.#workflow, event, this.#terminal));
    if (event.type === 'run.warned') this.#scroll(this.#warning(event.message));
    if (event.type === 'step.finished' || event.type === 'step.waiting') this.#endAttempt(event.step);
    if (event.type === 'step.finished' || event.type === 'step.restored') this.#settle(event);
    this.#view.apply(event);
    this.#frames.request();
  }

  output(chunk: OutputChunk): void {
    if (this.#showsOutput) this.#scrollLines(this.#lines.push(chunk));
    this.#view.active.get(chunk.step)?.lastLine.push(chunk.bytes);
    this.#frames.request();
  }

  end(recap: Recap): void {
    this.#frames.stop();
    this.#scrollLines(this.#lines.end(null));
    const folded = [...this.#folded].map(
      ([status, count]) => `${count} ${status === 'upstream_failed' ? 'not run' : status}`,
    );
    if (folded.length > 0) this.#scroll(`  ${this.#style.glyphs.ellipsis} and ${folded.join(', ')}`);
    this.#region.draw(this.#takeScrolled(), []);
    this.#region.close();
    this.#terminal.write(renderRecap(recap, this.#terminal, this.#options));
  }

  #paint(): { showsTime: boolean } {
    const { rows } = this.#terminal.size();
    const moment = { now: this.#options.clock.now(), frame: this.#frame++, rows, showsOutput: this.#showsOutput };
    this.#region.draw(this.#takeScrolled(), treeBlock(this.#view, moment, this.#room(), this.#style));
    return { showsTime: this.#view.active.size + this.#view.waiting.size > 0 };
  }

  #settle(event: Extract<StoredEvent, { type: 'step.finished' | 'step.restored' }>): void {
    if (event.status !== 'failed' && this.#finished >= mostFinished) {
      this.#folded.set(event.status, (this.#folded.get(event.status) ?? 0) + 1);
      return;
    }
    this.#finished++;
    const startedAt = this.#view.active.get(event.step)?.startedAt ?? null;
    this.#scroll(treeLine(finishedLine(event, startedAt, this.#style), this.#room()));
  }

  #endAttempt(step: string): void {
    this.#scrollLines(this.#lines.end(step));
    this.#colors.end(step);
  }

  #room() {
    return { columns: this.#terminal.size().columns, names: this.#names, ellipsis: this.#style.glyphs.ellipsis };
  }

  #warning(message: string): string {
    return `${this.#style.colors.yellow('warning:')} ${escapeControls(message)}`;
  }

  #scrollLines(lines: readonly OutputLine[]): void {
    for (const line of lines) this.#scroll(this.#colors.isolate(line));
  }

  #scroll(line: string): void {
    this.#scrolled += `${line}\n`;
    if (this.#scrolled.length >= fullScroll) this.#region.draw(this.#takeScrolled(), []);
  }

  #takeScrolled(): string {
    const scrolled = this.#scrolled;
    this.#scrolled = '';
    return scrolled;
  }
}
