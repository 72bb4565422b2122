import { relative } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Param } from '../../core/run/run.ts';
import { WfError } from '../../errors.ts';
import { escapeControls } from '../../render/text/sanitize.ts';
import { InvalidWorkflow } from '../../service/workflows/invalid-workflow.ts';
import { stopSignals } from '../exit-codes.ts';
import { configFor } from '../reference.ts';
import { type PreparedRun, prepareRun, type RunOptions } from '../run/prepare-run.ts';
import type { Console } from '../terminal/console.ts';
import { printError } from '../terminal/print-error.ts';
import { listenForInterrupt } from './interrupt.ts';
import { nextChange } from './next-change.ts';
import { OwnWrites } from './own-writes.ts';
import { changedPaths, type Snapshot, scan, type WatchTargets } from './scan.ts';
import { type ReadFiles, watchTargets } from './watch-targets.ts';

const mostNamed = 5;

/**
 * Runs a workflow, and again whenever its files or those of `--watch-path` have changed, until a signal ends it. A change
 * during a run counts when the run is over. Resolves to the exit code that tells of the signal.
 */
export async function watchCommand(options: RunOptions, console: Console): Promise<number> {
  refuseCombinations(options);
  const interrupt = listenForInterrupt();
  try {
    return await new Watch(options, console).untilInterrupted(interrupt.aborted, () => {
      return stopSignals[interrupt.signal() ?? 'SIGINT'];
    });
  } finally {
    interrupt.close();
  }
}

function refuseCombinations({ name, runId, dryRun }: RunOptions): void {
  if (name === '-') throw new WfError('usage', 'standard input cannot be watched: --watch needs a file');
  if (runId !== undefined) throw new WfError('usage', '--watch makes many runs, which cannot all be named by --run-id');
  if (dryRun) throw new WfError('usage', '--watch and --dry-run exclude each other');
}

class Watch {
  readonly #options: RunOptions;
  readonly #console: Console;
  readonly #ownWrites = new OwnWrites();
  #config: Config;
  #read: ReadFiles = { sources: [], valid: false };
  #hasRun = false;
  /** Nobody is asked twice. */
  #params: readonly Param[] | null = null;

  constructor(options: RunOptions, console: Console) {
    this.#options = options;
    this.#console = console;
    this.#config = configFor(options);
  }

  async untilInterrupted(signal: AbortSignal, exitCode: () => number): Promise<number> {
    while (!signal.aborted) {
      const known = scan(this.#targets()).snapshot;
      const run = await this.#prepare();
      if (run === 'unwanted') return stopSignals.SIGINT;
      // What was not known of before is taken as it was read.
      const before = new Map([...scan(this.#targets()).snapshot].map(([path, now]) => [path, known.get(path) ?? now]));
      if (run !== null) await this.#run(run);
      if (signal.aborted) break;
      if (!(await this.#waitForChange(before, run !== null, signal))) break;
    }
    return exitCode();
  }

  /** Null when the file is not valid: it has been said why. */
  async #prepare(): Promise<PreparedRun | 'unwanted' | null> {
    try {
      const run = await prepareRun(
        { options: this.#options, config: configFor(this.#options), known: this.#params },
        this.#console,
      );
      if (run === null) return 'unwanted';
      this.#params = run.params;
      this.#config = run.config;
      this.#read = { sources: run.loaded.sources, valid: true };
      return run;
    } catch (error) {
      await this.#printMendable(error);
      return null;
    }
  }

  async #run(run: PreparedRun): Promise<void> {
    try {
      await run.go();
      // What we say of it goes another way, and must not come first.
      await this.#console.out.drained();
      this.#hasRun = true;
    } catch (error) {
      await this.#printMendable(error);
    }
  }

  /** A command line that makes no sense is no reason to wait; a file that is not valid, or not there any more, is. */
  async #printMendable(error: unknown): Promise<void> {
    if (error instanceof InvalidWorkflow) this.#read = { sources: [...error.sources], valid: false };
    else if (!(error instanceof WfError) || !this.#hasRun) throw error;
    await printError(error, this.#console);
  }

  async #waitForChange(before: Snapshot, hasRun: boolean, signal: AbortSignal): Promise<boolean> {
    const targets = this.#targets();
    const after = scan(targets).snapshot;
    const during = hasRun
      ? this.#ownWrites.judge(before, after)
      : { counted: changedPaths(before, after), discounted: [] };
    if (during.discounted.length > 0) {
      this.#say(`${this.#names(during.discounted)}: changed in every run; taken for the run's own work from now on`);
    }
    if (during.counted.length > 0) {
      this.#say(`changed meanwhile: ${this.#names(during.counted)}`);
      return true;
    }
    this.#say(`waiting for a change of ${countText(after.size)}; Ctrl-C ends`);
    const next = await nextChange(targets, after, signal);
    if (next === null) return false;
    const changed = changedPaths(after, next);
    this.#ownWrites.changedBetween(changed);
    this.#say(`changed: ${this.#names(changed)}`);
    return true;
  }

  #targets(): WatchTargets {
    return watchTargets(this.#read, { paths: this.#options.watchPath ?? [], config: this.#config });
  }

  #names(paths: readonly string[]): string {
    const shown = paths.slice(0, mostNamed).map((path) => escapeControls(relative(process.cwd(), path)));
    return shown.join(', ') + (paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : '');
  }

  #say(text: string): void {
    this.#console.err.write(`wf: ${text}\n`);
  }
}

function countText(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}
