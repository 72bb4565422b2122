import { instanceName } from '#core/fan-out/instance-name.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { SettledStatus, StoredEvent } from '#core/run/run.ts';
import { allSteps, type Workflow } from '#core/workflow.ts';
import { behindGutter } from '../../text/pack-lines.ts';
import { stepStatusText } from '../../text/run-text.ts';
import { type SuggestedCommands, suggestLogs } from '../../text/suggested-commands.ts';
import { counted } from '../../text/value-text.ts';
import { nameText, textWidth } from '../../text/width.ts';
import { createLeftOutput, type LeftOutput, type OutputMode } from '../held-lines.ts';
import type { OutputChunk } from '../reporter.ts';
import { createShownLines, nodesByName, type OutputLine } from '../step-lines.ts';
import { finishedLine, type TreeLine, type TreeRoom, type TreeStyle, treeLine, withCount } from './tree-lines.ts';
import { TreeView } from './tree-view.ts';

/** The shared context of all branches of a tree. */
export type BranchContext = {
  readonly style: Omit<TreeStyle, 'steps' | 'isStrict'>;
  readonly columns: () => number;
  readonly mode: OutputMode;
  readonly keepsColors: boolean;
  readonly commands: SuggestedCommands;
  /** Called for each step whose output is printed. */
  readonly printed: (runId: string, step: string) => void;
};

/** The run of a branch. */
export type BranchRun = {
  readonly workflow: Workflow;
  readonly runId: string;
  readonly depth: number;
  /** The branch has the instances of a fan-out: only those that fail get a line, unless the output of all is wanted. */
  readonly isFanOut?: true;
};

/** After this many lines only failed steps get a line; the others are counted. */
const MOST_FINISHED = 100;

/** One run in the tree; a sub-workflow step has a branch of its own, whose lines follow the line of the step. */
export class TreeBranch {
  readonly view: TreeView;
  style: TreeStyle;
  readonly nested = new Map<string, TreeBranch>();
  /** A line for each finished step, without its output. */
  readonly rows: TreeLine[] = [];
  readonly #run: BranchRun;
  readonly #context: BranchContext;
  readonly #emit: (line: string) => void;
  readonly #names: number;
  /** The output of a single step is printed as it arrives, since it cannot mix with other output. */
  readonly #isLive: boolean;
  readonly #lines;
  readonly #left = new Map<string, LeftOutput>();
  readonly #folded = new Map<SettledStatus, number>();
  #finished = 0;
  #nestedLines = new Map<string, string[]>();

  constructor(run: BranchRun, context: BranchContext, emit: (line: string) => void) {
    this.#run = run;
    this.#context = context;
    this.#emit = emit;
    this.view = new TreeView(run.workflow);
    this.style = { ...context.style, steps: nodesByName(run.workflow), isStrict: false };
    this.#lines = createShownLines(context.keepsColors);
    this.#names = allSteps(run.workflow).reduce((widest, { name }) => Math.max(widest, textWidth(nameText(name))), 0);
    this.#isLive = run.depth === 0 && isOneStep(run.workflow) && (context.mode === null || context.mode === 'full');
  }

  get showsOutput(): boolean {
    return this.#isLive;
  }

  get isFanOut(): boolean {
    return this.#run.isFanOut === true;
  }

  event(event: StoredEvent): void {
    const branch = 'step' in event && event.step !== null ? this.#branchOf(event.step) : this;
    if (branch !== this) {
      branch.event(event);
      return;
    }
    if (event.type === 'run.created') this.style = { ...this.style, isStrict: event.strict === true };
    if (event.type === 'step.expanded') this.#expand(event);
    if (endsAttempt(event)) this.#put(this.#lines.end(event.step));
    if (event.type === 'step.waiting') this.#forget(event.step);
    if (event.type === 'step.finished' || event.type === 'step.restored') this.#settle(event);
    this.view.apply(event);
  }

  output(chunk: OutputChunk): void {
    const branch = this.#branchOf(chunk.step);
    if (branch !== this) {
      branch.output(chunk);
      return;
    }
    if (this.#isLive || this.#isKept(chunk.step)) this.#put(this.#lines.push(chunk));
    this.view.active.get(chunk.step)?.lastLine.push(chunk.bytes);
  }

  /** Returns the branch of a child run, or of the instances of a fan-out. */
  child(step: string, run: Omit<BranchRun, 'depth'>): TreeBranch {
    const parent = this.#branchOf(step);
    if (parent !== this) return parent.child(step, run);
    const lines: string[] = [];
    const branch = new TreeBranch({ ...run, depth: this.#run.depth + 1 }, this.#context, (line) => lines.push(line));
    this.#nestedLines.set(step, lines);
    this.nested.set(step, branch);
    return branch;
  }

  nestedOf(step: string): TreeBranch | undefined {
    return this.#branchOf(step).nested.get(step);
  }

  /** Prints unfinished lines and the count of steps without a line. */
  end(): void {
    if (this.#isLive) this.#put(this.#lines.end(null));
    const counts = [...this.#folded].map(([status, count]) => `${count} ${stepStatusText(status)}`);
    if (counts.length > 0) this.#emit(`${this.#indent()}${this.style.glyphs.ellipsis} and ${counts.join(', ')}`);
    this.#folded.clear();
  }

  room(width?: number): TreeRoom {
    const { columns, style } = this.#context;
    const room = { columns: columns(), names: this.#names, ellipsis: style.glyphs.ellipsis, depth: this.#run.depth };
    return width === undefined ? room : { ...room, width };
  }

  /** Returns the branch with the lines of a step: an instance of a fan-out has one in the branch of its step. */
  #branchOf(name: string): TreeBranch {
    const node = this.style.steps.get(name);
    const isInstance = node?.fanOut !== undefined && node.name !== name;
    return (isInstance ? this.nested.get(node.name) : undefined) ?? this;
  }

  #expand({ step, items }: Extract<StoredEvent, { type: 'step.expanded' }>): void {
    const node = this.style.steps.get(step);
    if (node === undefined) return;
    const { fanOut: _, ...plain } = node;
    const steps = items.map(({ key }) => ({ ...plain, name: instanceName(step, key), depends: [] }));
    const workflow = { ...this.#run.workflow, steps, handlers: noHandlers };
    this.child(step, { workflow, runId: this.#run.runId, isFanOut: true });
  }

  #isHidden(status: SettledStatus): boolean {
    return this.isFanOut && status !== 'failed' && this.#context.mode !== 'full' && this.#context.mode !== 'last';
  }

  #settle(event: Extract<StoredEvent, { type: 'step.finished' | 'step.restored' }>): void {
    const { step, status } = event;
    if (this.#isHidden(status)) {
      this.#forget(step);
      return;
    }
    if (status !== 'failed' && this.#finished >= MOST_FINISHED) {
      this.#folded.set(status, (this.#folded.get(status) ?? 0) + 1);
      this.#forget(step);
      return;
    }
    this.#finished++;
    const { startedAt = null } = this.view.active.get(step) ?? {};
    const { answer } = this.view.waiting.get(step) ?? {};
    const instances = this.nested.get(step);
    const line = finishedLine(event, { startedAt, answer, reason: this.view.reasons.get(step) }, this.style);
    const isCounted = instances?.isFanOut === true && status !== 'failed';
    const row = isCounted ? withCount(line, instances.view) : line;
    this.rows.push(row);
    this.#emit(treeLine(row, this.room()));
    this.nested.get(step)?.end();
    const nested = this.#nestedLines.get(step);
    for (const line of nested ?? []) this.#emit(line);
    if (nested === undefined) this.#leaveOutput(step, status);
    this.#forget(step);
  }

  #leaveOutput(step: string, status: SettledStatus): void {
    const left = this.#left.get(step);
    if (left === undefined || (this.#context.mode === 'errors' && status !== 'failed')) return;
    const { lines, leftOut } = left.take();
    const { colors, glyphs } = this.style;
    const indent = `${this.#indent()}  `;
    if (leftOut > 0) this.#emit(colors.dim(`${indent}${this.#restHint(leftOut, step)}`));
    if (lines.length > 0) this.#context.printed(this.#run.runId, step);
    for (const line of lines) {
      for (const row of behindGutter(line, `${indent}${colors.dim(glyphs.bar)} `, this.#context.columns()))
        this.#emit(row);
    }
  }

  /** The command for the rest of the output of a step, unless the terminal would break it or the run is not stored. */
  #restHint(count: number, step: string): string {
    const { commands, columns } = this.#context;
    const text = `${this.style.glyphs.ellipsis} ${counted(count, 'line')} more`;
    const whole = `${text}: ${suggestLogs(this.#run.runId, step, { options: commands.options })}`;
    return commands.logs && textWidth(whole) + 6 < columns() ? whole : text;
  }

  /** The output of a sub-workflow step is only the result of the child run, as JSON. */
  #isKept(step: string): boolean {
    return this.#context.mode !== 'none' && !this.#isLive && !this.#nestedLines.has(step);
  }

  #put(lines: readonly OutputLine[]): void {
    for (const { step, text } of lines) {
      if (this.#isLive) {
        this.#emit(text);
        this.#context.printed(this.#run.runId, step);
        continue;
      }
      const left = this.#left.get(step) ?? createLeftOutput(this.#context.mode);
      this.#left.set(step, left);
      left.add(text);
    }
  }

  #forget(step: string): void {
    this.#left.delete(step);
    this.#nestedLines.delete(step);
    this.nested.delete(step);
  }

  #indent(): string {
    return '  '.repeat(this.#run.depth + 1);
  }
}

function isOneStep({ steps }: Workflow): boolean {
  const [step] = steps;
  return steps.length === 1 && step?.executor.type !== 'workflow' && step?.fanOut === undefined;
}

const noHandlers = { success: null, failure: null, cancel: null, exit: null };
