import { relative, resolve } from 'node:path';
import type { Config } from '#config/config.ts';
import type { Param } from '#core/run/run.ts';
import type { Source } from '#language/diagnostic.ts';
import { escapeControls } from '#render/text/sanitize.ts';
import { InvalidWorkflow } from '#service/workflows/invalid-workflow.ts';
import { WfError } from '#system/errors.ts';
import { besidePattern, type WatchPattern, watchPattern } from '#system/glob.ts';
import { type StopSignal, stopSignals } from '../exit-codes.ts';
import { configFor } from '../reference.ts';
import { parseReporters } from '../reporters/reporter-list.ts';
import { runInForeground } from '../run/foreground.ts';
import { type PreparedRun, prepareRun, type RunOptions } from '../run/prepare-run.ts';
import type { Console } from '../terminal/console.ts';
import { printError } from '../terminal/print-error.ts';
import { nextChange, OwnWrites } from './next-change.ts';
import { changedPaths, type FileTimes, scan, type WatchTargets } from './scan.ts';

const mostNamed = 5;

/**
 * Runs a workflow, and runs it again whenever its files or those of `--watch-path` change, until a signal arrives. A change
 * during a run counts after the run. Resolves to the exit code of the signal.
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
  if (runId !== undefined) throw new WfError('usage', '--watch starts many runs, and --run-id can name only one');
  if (dryRun) throw new WfError('usage', '--watch and --dry-run exclude each other');
}

class Watch {
  readonly #options: RunOptions;
  readonly #console: Console;
  readonly #ownWrites = new OwnWrites();
  #config: Config;
  #read: ReadFiles = { sources: [], valid: false };
  #hasRun = false;
  /** Prompts only once. */
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
      // Files that were not watched before are taken as they were read.
      const before = new Map([...scan(this.#targets()).snapshot].map(([path, now]) => [path, known.get(path) ?? now]));
      if (run !== null) await this.#run(run);
      if (signal.aborted) break;
      if (!(await this.#waitForChange(before, run !== null, signal))) break;
    }
    return exitCode();
  }

  /** Null if the file is invalid; its problems have been printed. */
  async #prepare(): Promise<PreparedRun | 'unwanted' | null> {
    try {
      const run = await prepareRun(
        { options: this.#options, config: configFor(this.#options), known: this.#params },
        this.#console,
      );
      if (run === null) return 'unwanted';
      this.#params = run.request.params;
      this.#config = run.config;
      this.#read = { sources: run.request.sources, valid: true };
      return run;
    } catch (error) {
      await this.#printMendable(error);
      return null;
    }
  }

  async #run(run: PreparedRun): Promise<void> {
    try {
      await runInForeground(run, this.#options, this.#console);
      // Messages use another stream and must not come first.
      await this.#console.out.drained();
      this.#hasRun = true;
    } catch (error) {
      await this.#printMendable(error);
    }
  }

  /** An invalid command line ends the watch; an invalid or missing file waits for the next change. */
  async #printMendable(error: unknown): Promise<void> {
    if (error instanceof InvalidWorkflow) this.#read = { sources: [...error.sources], valid: false };
    else if (!(error instanceof WfError) || !this.#hasRun) throw error;
    await printError(error, this.#console);
  }

  async #waitForChange(before: FileTimes, hasRun: boolean, signal: AbortSignal): Promise<boolean> {
    const targets = this.#targets();
    const after = scan(targets).snapshot;
    const during = hasRun
      ? this.#ownWrites.judge(before, after)
      : { counted: changedPaths(before, after), discounted: [] };
    if (during.discounted.length > 0) {
      this.#say(
        `${this.#names(during.discounted)}: changed in every run, so from now on it counts as output of the run`,
      );
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

/** Whether a signal has ended the watch. */
type Interrupt = {
  readonly aborted: AbortSignal;
  /** The first signal; null before one arrives. */
  readonly signal: () => StopSignal | null;
  readonly close: () => void;
};

/** Listens for the signals that stop a run; a running run gets them too. */
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

/** The files that a workflow was read from, as far as they could be read. */
type ReadFiles = { readonly sources: readonly Source[]; readonly valid: boolean };

/** Returns the files to watch for a workflow: its sources and those of `--watch-path`. */
function watchTargets(
  { sources, valid }: ReadFiles,
  { paths, config }: { readonly paths: readonly string[]; readonly config: Config },
): WatchTargets {
  const files = sources.map(({ path }) => path).filter((path) => path !== '-');
  const named = paths.map((path) => watchPattern(path, config.cwd));
  return { files, patterns: [...named, ...(valid ? [] : missingImports(files))], ignored: writtenByRuns(config) };
}

/** An invalid file may import files that do not exist yet. */
function missingImports(files: readonly string[]): readonly WatchPattern[] {
  return files.map((file) => besidePattern(file, ['.yaml', '.yml']));
}

/** The files that every run writes, which must not start another one: its history, logs and reports. */
function writtenByRuns({ runsDir, settings, cwd }: Config): ReadonlySet<string> {
  const reports = parseReporters(settings.read('reporter').value).files.map(({ path }) => resolve(cwd, path));
  return new Set([...(runsDir === null ? [] : [runsDir]), ...reports]);
}
