import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Config } from '#config/config.ts';
import type { Param } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Source } from '#language/diagnostic.ts';
import { counted, escapeControls } from '#render/text.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import { tryOr, WfError } from '#system/errors.ts';
import { pathFrom } from '#system/files.ts';
import { besidePattern, type WatchPattern, watchPattern } from '#system/glob.ts';
import { pause } from '#system/time-limit.ts';
import { printError, stopSignals } from '../exit-codes.ts';
import { configFor } from '../reference.ts';
import { parseReporters } from '../reporters/reporter-list.ts';
import type { Console } from '../terminal/console.ts';
import { runInForeground } from './foreground.ts';
import { type PreparedRun, prepareRun, type RunOptions } from './prepare-run.ts';
import { listenForSignals } from './presenter.ts';

const MOST_NAMED = 5;

/** Runs a workflow whenever its files, the sources of its steps or the files of `--watch-path` change, until a signal; resolves to its exit code. */
export async function watchCommand(options: RunOptions, console: Console): Promise<number> {
  refuseCombinations(options);
  const interrupt = listenForSignals();
  const ended = new AbortController();
  // A running run gets the signals too.
  interrupt.attach({ cancel: () => ended.abort() });
  try {
    const isUnwanted = await new Watch(options, console).untilInterrupted(ended.signal);
    return stopSignals[isUnwanted ? 'SIGINT' : (interrupt.signal() ?? 'SIGINT')];
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
  #read: ReadFiles = { sources: [], patterns: [], valid: false };
  #hasRun = false;
  /** Prompts only once. */
  #params: readonly Param[] | null = null;

  constructor(options: RunOptions, console: Console) {
    this.#options = options;
    this.#console = console;
    this.#config = configFor(options);
  }

  /** Resolves to whether the user canceled a prompt instead. */
  async untilInterrupted(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const known = scan(this.#targets()).snapshot;
      const run = await this.#prepare();
      if (run === 'unwanted') return true;
      // Files that were not watched before are taken as they were read.
      const before = new Map([...scan(this.#targets()).snapshot].map(([path, now]) => [path, known.get(path) ?? now]));
      if (run !== null) await this.#run(run);
      if (signal.aborted) break;
      if (!(await this.#waitForChange(before, run !== null, signal))) break;
    }
    return false;
  }

  /** Null if the file is invalid; its problems have been printed. */
  async #prepare(): Promise<PreparedRun | 'unwanted' | null> {
    try {
      const run = await prepareRun(this.#options, configFor(this.#options), this.#console, this.#params);
      if (run === null) return 'unwanted';
      this.#params = run.request.params;
      this.#config = run.config;
      const { sources, workflow } = run.request;
      this.#read = { sources, patterns: sourcePatterns(workflow, run.config), valid: true };
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
    if (error instanceof InvalidWorkflow) this.#read = { ...this.#read, sources: [...error.sources], valid: false };
    else if (!(error instanceof WfError) || !this.#hasRun) throw error;
    await printError(error, this.#console);
  }

  async #waitForChange(before: FileTimes, hasRun: boolean, signal: AbortSignal): Promise<boolean> {
    const targets = this.#targets();
    const after = scan(targets).snapshot;
    const during = hasRun
      ? this.#ownWrites.judge(before, after)
      : { counted: changedPaths(before, after), discounted: [] };
    const own = this.#names(during.discounted);
    if (own !== '') this.#say(`${own}: changed in every run, so from now on it counts as output of the run`);
    if (during.counted.length > 0) {
      this.#say(`changed meanwhile: ${this.#names(during.counted)}`);
      return true;
    }
    this.#say(`waiting for a change of ${counted(after.size, 'file')}; Ctrl-C ends`);
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
    const shown = paths.slice(0, MOST_NAMED).map((path) => escapeControls(relative(process.cwd(), path)));
    return shown.join(', ') + (paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '');
  }

  #say(text: string): void {
    this.#console.err.write(`wf: ${text}\n`);
  }
}

/** The files that a workflow was read from, as far as they could be read, and those of `sources` of its steps. */
type ReadFiles = {
  readonly sources: readonly Source[];
  readonly patterns: readonly WatchPattern[];
  readonly valid: boolean;
};

/** The files that the steps read, without those that they generate. Only a run knows what a pattern with a variable matches. */
function sourcePatterns({ steps, dir }: Workflow, { processEnv }: Config): readonly WatchPattern[] {
  return steps.flatMap(({ upToDate, dir: own }) => {
    if (upToDate === undefined || !isLiteral(own ?? '')) return [];
    const cwd = pathFrom(dir, own ?? '', processEnv['HOME']);
    const parse = (pattern: string) => watchPattern(pattern, cwd);
    const { sources, generates, cache } = upToDate;
    const wanted = sources.filter((pattern) => isLiteral(pattern) && !pattern.startsWith('!')).map(parse);
    const left = sources.flatMap((pattern) => (pattern.startsWith('!') ? [pattern.slice(1)] : []));
    const unwanted = [...left, ...generates, ...(cache?.paths ?? [])].filter(isLiteral).map(parse);
    return wanted.map((pattern) => ({
      ...pattern,
      matches: (path: string) => pattern.matches(path) && !unwanted.some((other) => other.matches(path)),
    }));
  });
}

function isLiteral(text: string): boolean {
  return !/[$`]/.test(text);
}

function watchTargets(
  { sources, patterns, valid }: ReadFiles,
  { paths, config }: { readonly paths: readonly string[]; readonly config: Config },
): WatchTargets {
  const files = sources.map(({ path }) => path).filter((path) => path !== '-');
  const named = paths.map((path) => watchPattern(path, config.cwd));
  // An invalid file may import files that do not exist yet.
  const missing = valid ? [] : files.map((file) => besidePattern(file, ['.yaml', '.yml']));
  return { files, patterns: [...named, ...patterns, ...missing], ignored: writtenByRuns(config) };
}

/** The files that every run writes, which must not start another one: its history, logs and reports. */
function writtenByRuns({ runsDir, settings, cwd }: Config): ReadonlySet<string> {
  const reports = parseReporters(settings.read('reporter').value).files.map(({ path }) => resolve(cwd, path));
  return new Set([...(runsDir === null ? [] : [runsDir]), ...reports]);
}

/** Changes within this time count as one, since editors and generators write several files, or one file in several steps. */
const SETTLE_MS = 100;
/** For places whose changes the system does not report (network shares, mounts of containers). */
const POLL_MS = 1000;
/** Scanning takes at most a twentieth of the time. */
const REST_PER_LOOK = 20;

/** Waits until the files differ from `before` and have stopped changing; null if `signal` is aborted. */
export async function nextChange(
  targets: WatchTargets,
  before: FileTimes,
  signal: AbortSignal,
): Promise<FileTimes | null> {
  const watchers = new DirectoryWatchers();
  try {
    for (let last = before; !signal.aborted; ) {
      const startedAt = performance.now();
      const found = scan(targets);
      const tookMs = performance.now() - startedAt;
      watchers.add(found, targets);
      const isDifferent = changedPaths(before, found.snapshot).length > 0;
      if (isDifferent && changedPaths(last, found.snapshot).length === 0) return found.snapshot;
      last = found.snapshot;
      if (isDifferent) await pause(SETTLE_MS, signal);
      else await watchers.event(Math.max(POLL_MS, REST_PER_LOOK * tookMs), signal);
    }
    return null;
  } finally {
    watchers.close();
  }
}

class DirectoryWatchers {
  readonly #watchers = new Map<string, FSWatcher | null>();
  #wake: () => void = () => {};

  add({ directories }: Scan, { files }: WatchTargets): void {
    // Editors often replace a file, which a watch on the file itself would miss.
    for (const directory of [...directories, ...files.map((file) => dirname(file))]) {
      if (!this.#watchers.has(directory)) this.#watchers.set(directory, this.#open(directory));
    }
  }

  /** Resolves at the next event, after the time, or when `signal` is aborted. */
  event(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    return pause(ms, AbortSignal.any([signal, woken.signal]));
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher?.close();
  }

  /** Null if the system offers no watch; then only regular scans find changes. */
  #open(directory: string): FSWatcher | null {
    return tryOr(null, () => {
      const watcher = watch(directory, () => this.#wake());
      return watcher.on('error', () => watcher.close());
    });
  }
}

/** A user may save a file during one run and the next, so two runs do not prove that the run writes it. */
const RUNS_IN_A_ROW = 3;

/**
 * Separates files that the user changes during a run from those that the run writes itself, which would start runs without end:
 * those that changed during three runs in a row, and not between two runs since.
 */
export class OwnWrites {
  readonly #own = new Set<string>();
  #inARow: ReadonlyMap<string, number> = new Map();

  /** Compares snapshots before and after a run; `discounted` files changed in every run and are ignored from now on. */
  judge(before: FileTimes, after: FileTimes) {
    const changed = changedPaths(before, after).filter((path) => !this.#own.has(path));
    const inARow = new Map(changed.map((path) => [path, (this.#inARow.get(path) ?? 0) + 1]));
    const discounted = changed.filter((path) => (inARow.get(path) ?? 0) >= RUNS_IN_A_ROW);
    for (const path of discounted) this.#own.add(path);
    this.#inARow = inARow;
    return { counted: changed.filter((path) => !this.#own.has(path)), discounted };
  }

  changedBetween(paths: readonly string[]): void {
    for (const path of paths) this.#own.delete(path);
    this.#inARow = new Map();
  }
}

/** The watched files: the named ones, and those that the patterns match outside the ignored files and directories. */
type WatchTargets = {
  readonly files: readonly string[];
  readonly patterns: readonly WatchPattern[];
  readonly ignored: ReadonlySet<string>;
};

/** Files by absolute path, each with a text that changes with the file. */
type FileTimes = ReadonlyMap<string, string>;
type Scan = { readonly snapshot: FileTimes; readonly directories: ReadonlySet<string> };

/** Directories of tools, whose frequent changes are irrelevant. */
const toolDirectories = new Set(['.git', 'node_modules']);

/** Scans all watched files. An unreadable file counts as missing. */
export function scan({ files, patterns, ignored }: WatchTargets): Scan {
  const snapshot = new Map<string, string>();
  const directories = new Set<string>();
  const walk = (directory: string, pattern: WatchPattern): void => {
    if (ignored.has(directory)) return;
    const entries = tryOr(null, () => readdirSync(directory, { withFileTypes: true }));
    if (entries === null) {
      if (pattern.matches(directory)) addFile(directory, snapshot);
      return;
    }
    directories.add(directory);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      // Links are not followed into directories: they can form a loop.
      if (entry.isDirectory()) {
        if (pattern.isDeep && !toolDirectories.has(entry.name)) walk(path, pattern);
      } else if (pattern.matches(path) && !ignored.has(path)) {
        addFile(path, snapshot);
      }
    }
  };
  for (const file of files) addFile(file, snapshot);
  for (const pattern of patterns) walk(pattern.directory, pattern);
  return { snapshot, directories };
}

/** Returns the changed, new and removed paths in order. */
export function changedPaths(before: FileTimes, after: FileTimes): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}

function addFile(path: string, snapshot: Map<string, string>): void {
  const stat = tryOr(null, () => statSync(path, { bigint: true }));
  if (stat === null) snapshot.delete(path);
  else snapshot.set(path, `${stat.mtimeNs} ${stat.size} ${stat.ino}`);
}
