import { relative, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Param } from '../../core/run/run.ts';
import { WfError } from '../../errors.ts';
import type { Source } from '../../language/diagnostic.ts';
import { escapeControls } from '../../render/text/sanitize.ts';
import { InvalidWorkflow } from '../../service/workflows/invalid-workflow.ts';
import { type StopSignal, stopSignals } from '../exit-codes.ts';
import { configFor } from '../reference.ts';
import { parseReporters } from '../reporters/reporter-list.ts';
import { type PreparedRun, prepareRun, type RunOptions } from '../run/prepare-run.ts';
import type { Console } from '../terminal/console.ts';
import { printError } from '../terminal/print-error.ts';
import { besidePattern, type WatchPattern, watchPattern } from './glob.ts';
import { nextChange, OwnWrites } from './next-change.ts';
import { changedPaths, type Snapshot, scan, type WatchTargets } from './scan.ts';

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

/** Whether somebody wants the watching to end. */
type Interrupt = {
  readonly aborted: AbortSignal;
  /** The first signal; null as long as there was none. */
  readonly signal: () => StopSignal | null;
  readonly close: () => void;
};

/** Listens for the signals that stop a run; the run, if one goes on, gets them too. */
function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let first: StopSignal | null = null;
  const names = Object.keys(stopSignals) as StopSignal[];
  const listener = (signal: NodeJS.Signals) => {
    first ??= names.find((name) => name === signal) ?? null;
    controller.abort();
  };
  for (const name of names) process.on(name, listener);
  return {
    aborted: controller.signal,
    signal: () => first,
    close: () => {
      for (const name of names) process.off(name, listener);
    },
  };
}

/** What a workflow was read from, as far as it could be read. */
type ReadFiles = { readonly sources: readonly Source[]; readonly valid: boolean };

/** What is watched for a workflow: the files it was read from and what `--watch-path` names. */
function watchTargets(
  { sources, valid }: ReadFiles,
  { paths, config }: { readonly paths: readonly string[]; readonly config: Config },
): WatchTargets {
  const files = sources.map(({ path }) => path).filter((path) => path !== '-');
  const named = paths.map((path) => watchPattern(path, config.cwd));
  return { files, patterns: [...named, ...(valid ? [] : missingImports(files))], ignored: writtenByRuns(config) };
}

/** What a file that is not valid imports may still have to be written. */
function missingImports(files: readonly string[]): readonly WatchPattern[] {
  return files.map((file) => besidePattern(file, ['.yaml', '.yml']));
}

/** What every run writes by itself is no reason for another one: its record with its logs, and its reports. */
function writtenByRuns({ runsDir, settings, cwd }: Config): ReadonlySet<string> {
  const reports = parseReporters(settings.read('reporter').value).files.map(({ path }) => resolve(cwd, path));
  return new Set([...(runsDir === null ? [] : [runsDir]), ...reports]);
}
